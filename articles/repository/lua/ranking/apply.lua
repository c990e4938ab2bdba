--[[
Make new parameters the current ones in one shard: the staged ranking replaces the ranking by score, and the hot list
is rescored. Idempotent.
KEYS  1 ranking parameters  2 ranking by score  3 staged ranking
ARGV  1 shard prefix  2 version  3 moment, s  4 size of the hot list  5 number of the values that follow
      6… name, value, name, value … of the parameters, then the slugs of all groups
Returns  {"ok"}
Cost  O(groups + hot list · log hot list)
TOUCHES  article:<id> r, score: rw, score:<slug> rw, hot:score rw, hot:score:<slug> rw, counter:views:<id> r,
         hll:uv:<id> r, next:score rw, ranking: rw
]]
local ranking, ranked, staged, prefix, version = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local first_slug = 6 + tonumber(ARGV[5])
local before, weight, staged_weight, cursor =
  unpack(redis.call('HMGET', ranking, 'version', 'seconds_per_point', 'next_seconds_per_point', 'next_cursor'))
if tonumber(before) >= tonumber(version) then return {'ok'} end
parameters(prefix)
redis.call('ZCARD', prefix .. WHOLE.hot)  -- fails here if it is damaged, before the first write
local new = {}
for at = 6, first_slug - 1, 2 do new[ARGV[at]] = ARGV[at + 1] end
local moves = tonumber(new.seconds_per_point) ~= tonumber(weight)
if moves and not (staged_weight == new.seconds_per_point and cursor == 'done') then
  error('the ranking by the other weight is not whole')
end

if moves then
  redis.call('UNLINK', ranked)
  if redis.call('EXISTS', staged) == 1 then redis.call('RENAME', staged, ranked) end
  for at = first_slug, #ARGV do redis.call('UNLINK', prefix .. OF_GROUP.score .. ARGV[at]) end
end
redis.call('UNLINK', staged)
redis.call('HDEL', ranking, 'next_cursor', 'next_version', 'next_at', 'next_actor', 'next_reason',
  'next_chosen', 'next_learnt_from')
redis.call('HSET', ranking, 'version', version)
for name, value in pairs(new) do
  redis.call('HDEL', ranking, 'next_' .. name)
  redis.call('HSET', ranking, name, value)
end
rescore_hot_list(prefix, ARGV[3], tonumber(ARGV[4]))
return {'ok'}
