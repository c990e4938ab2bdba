--[[
Stamp an empty store as this site's; an existing stamp is left unchanged. Idempotent.
KEYS  1 the stamp
ARGV  1 keys on other servers  2… field, value, field, value … of a new stamp
Returns  {"ok"} | {"foreign", number of keys that belong to something else}
Cost  O(1)
TOUCHES  schema: rw
]]
if redis.call('EXISTS', KEYS[1]) == 1 then return {'ok'} end
local others = math.max(redis.call('DBSIZE'), tonumber(ARGV[1]))
if others > 0 then return {'foreign', others} end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return {'ok'}
