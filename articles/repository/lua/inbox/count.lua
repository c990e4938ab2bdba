--[[
Count the newest notices of a member. Reads only. A damaged inbox has none.
KEYS  1 inbox of the member
ARGV  1 time up to which the inbox was read, s
Returns  number of later notices
Cost  O(log N)
TOUCHES  inbox:<user> r
INCLUDE  none
]]
local count = redis.pcall('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
return type(count) == 'number' and count or 0
