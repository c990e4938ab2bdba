--[[
Renew a lease if this holder still has it.
KEYS  1 lease
ARGV  1 holder's token  2 life, s
Returns  1 if it is held, else 0
Cost  O(1)
TOUCHES  lock:tick rw
]]
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return 0
