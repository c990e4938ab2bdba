--[[
Read comments of one article by their numbers, for an export; fewer of long ones. Reads only.
KEYS  1 article
ARGV  1 article id  2 number to begin with  3 most comments, and KB of texts, to read in one step  4 shard prefix
      5… fields of a comment
Returns  {number to continue with, 0 at the end, row, row …}; each row is what comment_row() returns
Cost  O(comments · log N)
TOUCHES  article:<id> r, comment:<comment> r, replies:time:<comment> r
]]
local number, most, last = tonumber(ARGV[2]), tonumber(ARGV[3]), as_count(redis.call('HGET', KEYS[1], 'comment_ids')) or 0
local found, size, fields = {0}, 0, {unpack(ARGV, 5)}
local kilobytes_of = sized(ARGV[4], fields)

while number <= last and size < most do
  local id = comment_id(ARGV[1], number)
  if redis.call('EXISTS', ARGV[4] .. 'comment:' .. id) == 1 then
    found[#found + 1] = comment_row(ARGV[4], id, 0, fields)
    size = size + kilobytes_of(found[#found])
  end
  number, size = number + 1, size + 1
end
if number <= last then found[1] = number end
return found
