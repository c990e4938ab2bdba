--[[
Claim a link for an article id. The first claim wins; repeating it with the same id changes nothing.
KEYS  1 link
ARGV  1 article id  2 life of the claim, s
Returns  the id that holds the link
Cost  O(1)
TOUCHES  link:<digest> rw
]]
local holder = redis.call('GET', KEYS[1])
if holder then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
