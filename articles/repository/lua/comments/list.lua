--[[
Read comments of a member, newest first. Reads only.
KEYS  1 comments of the member
ARGV  1 number of comments to skip  2 most to read  3 KB of texts and HTML after which no further one is read  4 shard prefix
      5… fields of a comment
Returns  {row, row …}; each row is what comment_row() returns
Cost  O(log N + comments)
TOUCHES  comment:<comment> r, replies:time:<comment> r, commented:<user> r
]]
local rows, size, fields = {}, 0, {unpack(ARGV, 5)}
local kilobytes_of = sized(ARGV[4], fields)
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[1] + ARGV[2] - 1)) do
  if size > tonumber(ARGV[3]) then break end
  rows[#rows + 1] = comment_row(ARGV[4], id, 0, fields)
  size = size + kilobytes_of(rows[#rows])
end
return rows
