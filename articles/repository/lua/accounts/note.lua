--[[
Record the highest id of an account that exists or has existed. Idempotent: it never falls.
KEYS  1 highest ids
ARGV  1 id
Returns  {"ok", highest id recorded}
Cost  O(1)
TOUCHES  accounts: rw
]]
local highest = math.max(tonumber(redis.call('HGET', KEYS[1], 'created') or 0), tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'created', string.format('%.0f', highest))
return {'ok', string.format('%.0f', highest)}
