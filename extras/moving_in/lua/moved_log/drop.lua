--[[
Drop the entries of a source from a moderation log, below those that were added here, which concern no article. Not to be
repeated: it would take others for them.
KEYS  1 log
ARGV  1 entries that came  2 most of those that were added here
Returns  {"ok"} | {"changed"} if others are there
Cost  O(2)
TOUCHES  log: rw
]]
local own = own_entries(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]))
if not own then return {'changed'} end
redis.call('UNLINK', KEYS[1])
for n = #own, 1, -1 do redis.call('LPUSH', KEYS[1], own[n]) end
return {'ok'}
