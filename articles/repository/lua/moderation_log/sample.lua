--[[
When some entries of a shard's moderation log were made, evenly spread over the newest ones. Reads only.
KEYS  1 log
ARGV  1 every how many entries  2 among how many of the newest
Returns  {how many entries there are, time of the entry before the first step, before the second …}, in s as text
Cost  O(samples · entries above them / entries in a node)
TOUCHES  log: r
]]
local step, length, known = tonumber(ARGV[1]), redis.call('LLEN', KEYS[1]), 'inf'
local answer = {length}
for place = step, math.min(length, tonumber(ARGV[2])), step do
  local decoded, entry = pcall(cjson.decode, redis.call('LINDEX', KEYS[1], place - 1))
  known = decoded and type(entry) == 'table' and tostring(entry.at) or known  -- a damaged entry: as the one above it
  answer[#answer + 1] = known
end
return answer
