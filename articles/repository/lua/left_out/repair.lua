--[[
Make one shard begin an act on a member's choices again, whatever it records about that act and earlier ones. Its articles
are settled afterwards. Idempotent. A shard that follows a later act keeps it.
KEYS  1 members left out  2 their acts  3 members on probation
ARGV  1 user id  2 number of the act  3 "1" if it leaves out, "0" if it counts  4 "1" if the choices wait, or "0"
Returns  {"ok"}
Cost  O(1)
TOUCHES  leftout: rw, leftout:acts: rw, probation: rw
]]
local members, acts, user, act = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local number = string.match(redis.call('HGET', acts, user) or '', '^(%d+) %l+$')
if tonumber(number or 0) > tonumber(act) then return {'ok'} end
redis.call('HSET', acts, user, act .. ' open')
local is_out = ARGV[3] == '1'
redis.call(is_out and 'SADD' or 'SREM', members, user)
local is_waiting = ARGV[4] == '1'
redis.call(is_waiting and 'SADD' or 'SREM', KEYS[3], user)
return {'ok'}
