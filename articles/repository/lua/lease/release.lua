--[[
Release a lease, or the claim of a link, if this holder or this article has it.
KEYS  1 lease or link
ARGV  1 holder's token, or article id
Returns  1 if it was held, else 0
Cost  O(1)
TOUCHES  link:<digest> rw, lock:hot rw, lock:tick rw, lock:merge rw, lock:import rw
]]
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
