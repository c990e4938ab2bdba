--[[
Reserve account ids that the store has never seen, above those of the accounts database as well.
KEYS  1 highest ids
ARGV  1 highest id of the accounts database  2 how many
Returns  {"ok", first of the reserved ids}
Cost  O(1)
TOUCHES  accounts: rw
]]
local reserved, created = unpack(redis.call('HMGET', KEYS[1], 'reserved', 'created'))
local highest = math.max(tonumber(reserved or 0), tonumber(created or 0), tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'reserved', string.format('%.0f', highest + tonumber(ARGV[2])))
return {'ok', string.format('%.0f', highest + 1)}
