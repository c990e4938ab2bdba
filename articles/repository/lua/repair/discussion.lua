--[[
Correct what an article says about its comments, unless that has changed since it was read, and rank it by the last one.
KEYS  1 article
ARGV  1 number of comments, as it was read, or ''  2 last number given out, as it was read, or ''
      3 time of the last shown comment, as it was read, or ''  4 number of comments  5 last number given out
      6 shard prefix  7 id
Returns  {1 if they are correct now, else 0}
Cost  O(log N), and that of last_comments() for the last one
TOUCHES  article:<id> rw, comment:<comment> r, replies:time:<comment> r, active: rw, active:<slug> rw
]]
local shown, number, last = unpack(redis.call('HMGET', KEYS[1], 'comments', 'comment_ids', 'last_comment'))
if (shown or '') ~= ARGV[1] or (number or '') ~= ARGV[2] or (last or '') ~= ARGV[3] then return {0} end
redis.call('HSET', KEYS[1], 'comments', ARGV[4], 'comment_ids', ARGV[5])
note_last_comment(ARGV[6], ARGV[7])
return {1}
