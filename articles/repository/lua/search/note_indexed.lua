--[[
Record up to which article words are indexed, unless a newer version of the site is indexing. Idempotent.
KEYS  1 stamp of the store
ARGV  1 version of the words  2 last indexed id, or 'all'  3 "1" to take over from a newer version
Returns  {"ok"} | {"newer"}
Cost  O(1)
TOUCHES  schema: rw
]]
local version = string.match(redis.call('HGET', KEYS[1], 'indexed') or '', '^(%d+) ')
if ARGV[3] ~= '1' and version and tonumber(version) > tonumber(ARGV[1]) then return {'newer'} end
redis.call('HSET', KEYS[1], 'indexed', ARGV[1] .. ' ' .. ARGV[2])
return {'ok'}
