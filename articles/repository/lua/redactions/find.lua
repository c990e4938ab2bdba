--[[
Read the log entries that concern no article and were logged at a moment. Reads only.
KEYS  1 log
ARGV  1 the moment, s
Returns  the entries, as JSON
Cost  O(log entries)
TOUCHES  log: r
]]
local found = {}
for _, number in ipairs(numbers_at(KEYS[1], tonumber(ARGV[1]))) do
  found[#found + 1] = redis.call('LINDEX', KEYS[1], -number)
end
return found
