--[[
Read comments of a member, newest first. Reads only.
KEYS  1 comments of the member
ARGV  1 number of comments to skip  2 number to read  3 shard prefix  4… fields of a comment
Returns  {row, row …}; each row is what comment_row() returns
Cost  O(log N + comments)
TOUCHES  comment:<comment> r, replies:time:<comment> r, commented:<user> r
INCLUDE  comments
]]
local rows, fields = {}, {unpack(ARGV, 4)}
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[1] + ARGV[2] - 1)) do
  rows[#rows + 1] = comment_row(ARGV[3], id, 0, fields)
end
return rows
