--[[
Read the log entries that concern an article, newest first. Reads only.
KEYS  1 article  2 log
ARGV  1 most entries  2 how many of the oldest entries to read from, or '' for all
Returns  {number of entries that follow, entry …}, the entries as JSON
Cost  O(entries about it)
TOUCHES  article:<id> r, log: r
]]
local numbers = split(redis.call('HGET', KEYS[1], 'log'))
local first = math.min(tonumber(ARGV[2]) or #numbers, #numbers)
local last = math.max(first - tonumber(ARGV[1]), 0)
local reply = {last}
for at = first, last + 1, -1 do reply[#reply + 1] = redis.call('LINDEX', KEYS[2], -tonumber(numbers[at])) or nil end
return reply
