--[[
Count the newest notices of a member. Reads only.
KEYS  1 inbox of the member
ARGV  1 time up to which the inbox was read, s
Returns  number of later notices
Cost  O(log N)
TOUCHES  inbox:<user> r
]]
return redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
