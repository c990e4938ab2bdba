--[[
Acquire a lease that is free, or renew it for the holder that already has it.
KEYS  1 lease
ARGV  1 holder's token  2 life, s
Returns  1 if this holder has it, else 0
Cost  O(1)
TOUCHES  lock:merge rw, lock:import rw
]]
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
