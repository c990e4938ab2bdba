--[[
Read the times of some entries of a shard's moderation log, evenly spread over the newest. Reads only.
KEYS  1 log
ARGV  1 distance between two samples, in entries  2 number of newest entries to sample
Returns  {number of entries, time of the first sample, of the second …}, in s as text
Cost  O(samples · entries above them / entries in a node)
TOUCHES  log: r
]]
local step, length = tonumber(ARGV[1]), redis.call('LLEN', KEYS[1])
local answer = {length}
for place = step, math.min(length, tonumber(ARGV[2])), step do
  answer[#answer + 1] = tostring(cjson.decode(redis.call('LINDEX', KEYS[1], place - 1)).at)
end
return answer
