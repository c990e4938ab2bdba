--[[
Note the parameters that the same transaction applies: in their history, and in the moderation log. Does nothing if
they, or later ones, are already the current ones.
KEYS  1 ranking parameters of the first shard  2 history
ARGV  1 shard prefix  2 version  3 now, s  4 moderator  5 reason  6 the parameters, as JSON  7 the previous ones, as JSON
      8 what changed, as JSON  9 whether a moderator chose the weight of a vote
Returns  {"ok"}
Cost  O(1)
TOUCHES  ranking: rw, log: rw, tunings: rw
]]
local prefix, version = ARGV[1], ARGV[2]
local before = redis.call('HGET', KEYS[1], 'version')
if tonumber(before) >= tonumber(version) then return {'ok'} end

local wanted, had, changed = cjson.decode(ARGV[6]), cjson.decode(ARGV[7]), cjson.decode(ARGV[8])
local function note(number, at, actor, reason, values, learnt_from)
  redis.call('LPUSH', KEYS[2], cjson.encode({
    version = tonumber(number), at = at, actor = actor, reason = reason, parameters = values,
    learnt_from = learnt_from,
  }))
end

if redis.call('EXISTS', KEYS[2]) == 0 then note(before, '0', '', '', had) end
note(version, ARGV[3], ARGV[4], ARGV[5], wanted, changed.learnt_from)
redis.call('HSET', KEYS[1], 'chosen', ARGV[9])
log(prefix, 'tune-ranking', ARGV[3], ARGV[4], 0, '', ARGV[5], changed)
return {'ok'}
