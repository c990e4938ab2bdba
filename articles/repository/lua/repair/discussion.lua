--[[
Correct the number of an article's comments, and the last number given out, unless they have changed since they were read.
KEYS  1 article
ARGV  1 number of comments, as it was read, or ''  2 last number given out, as it was read, or ''  3 number of comments
      4 last number given out
Returns  {1 if they are correct now, else 0}
Cost  O(1)
TOUCHES  article:<id> rw
INCLUDE  none
]]
local shown, number = unpack(redis.call('HMGET', KEYS[1], 'comments', 'comment_ids'))
if (shown or '') ~= ARGV[1] or (number or '') ~= ARGV[2] then return {0} end
redis.call('HSET', KEYS[1], 'comments', ARGV[3], 'comment_ids', ARGV[4])
return {1}
