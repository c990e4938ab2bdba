--[[
Read some articles of one shard as a single text: of all fields and values. Reads only.
KEYS  1… articles
ARGV  1 bytes after which no further article is read
Returns  {number of articles that were read, their fields and values, each on a line}
Cost  O(articles)
TOUCHES  article:<id> r
INCLUDE  none
]]
local parts, size, most, done = {}, 0, tonumber(ARGV[1]), 0
for _, key in ipairs(KEYS) do
  local text = table.concat(redis.call('HGETALL', key), '\n')
  parts[#parts + 1], size, done = text, size + #text, done + 1
  if size > most then break end
end
return {done, table.concat(parts, '\n')}
