--[[
Give a link free, if this article holds it.
KEYS  1 link
ARGV  1 article id
Returns  1 if it was held, else 0
Cost  O(1)
]]
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
