--[[
Take a lock that is free, or keep it for longer if this holder has it. Never touches another holder's.
KEYS  1 lock
ARGV  1 the holder's token  2 for how long, s
Returns  1 if this holder has it, else 0
Cost  O(1)
TOUCHES  lock:import rw
]]
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
