--[[
Give a link or a lock free, if this article or this holder has it.
KEYS  1 link or lock
ARGV  1 article id, or the holder's token
Returns  1 if it was held, else 0
Cost  O(1)
TOUCHES  link:<digest> rw, lock:hot rw, lock:tick rw, lock:import rw
]]
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
