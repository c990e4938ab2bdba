--[[
Read the articles in some groups of one shard. Reads only.
KEYS  1… groups
ARGV  1 most articles to read of a group that is no array
Returns  {number of articles, -1 if it has too many for one step, their ids} of each
Cost  O(articles): at most those that the server keeps in an array, or 1
TOUCHES  group:<slug> r
]]
local reply = {}
for _, key in ipairs(KEYS) do
  local found = redis.call('SSCAN', key, '0', 'COUNT', ARGV[1])
  local ids = found[1] == '0' and found[2] or {}
  reply[#reply + 1], reply[#reply + 2] = found[1] == '0' and #ids or -1, ids
end
return reply
