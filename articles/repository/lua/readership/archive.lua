--[[
Delete an article's view counters, which the database has by now, unless a view has come since. Idempotent.
KEYS  1 times of the last views
ARGV  1 id  2 shard prefix  3 page views, as read  4 moment since which no view may have come, s
      5… reason, number, reason, number … of the suspect views, as read
Returns  {"ok"} | {"changed"} | {"gone"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, hot:score rw, hot:score:<slug> rw, counter:views:<id> rw, hll:uv:<id> rw,
         counter:suspect:<id> rw, viewed: rw
]]
local viewed, id, prefix = KEYS[1], ARGV[1], ARGV[2]
local article, views, visitors, suspects = prefix .. 'article:' .. id, counters_of(prefix, id)

local groups, archived = unpack(redis.call('HMGET', article, 'groups', 'archived'))
local pv, last = redis.call('GET', views), redis.call('ZSCORE', viewed, id)
if not (groups and pv and last) then
  redis.call('ZREM', viewed, id)  -- there is nothing to archive, now or later
  return {'gone'}
end
if archived or pv ~= ARGV[3] or tonumber(last) > tonumber(ARGV[4]) then return {'changed'} end
local uv = redis.call('PFCOUNT', visitors)
local left = {}
for at = 5, #ARGV, 2 do
  left[ARGV[at]] = (tonumber(redis.call('HGET', suspects, ARGV[at]) or '') or 0) - tonumber(ARGV[at + 1])
end

redis.call('DEL', views, visitors)  -- first: a full store lets a script continue once it has freed memory
redis.call('ZREM', viewed, id)
redis.call('ZREM', prefix .. WHOLE.hot, id)
for _, slug in ipairs(split(groups)) do redis.call('ZREM', prefix .. OF_GROUP.hot .. slug, id) end
for reason, number in pairs(left) do
  if number > 0 then redis.call('HSET', suspects, reason, exactly(number)) else redis.call('HDEL', suspects, reason) end
end
redis.call('HSET', article, 'archived', pv .. ' ' .. uv)
return {'ok'}
