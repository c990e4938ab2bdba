--[[
Read the log entries that concern an article, newest first. Reads only.
KEYS  1 article  2 log
ARGV  1 most entries
Returns  the entries, as JSON
Cost  O(entries about it)
TOUCHES  article:<id> r, log: r
INCLUDE  values
]]
local numbers, found = split(redis.call('HGET', KEYS[1], 'log')), {}
for at = #numbers, math.max(#numbers - tonumber(ARGV[1]) + 1, 1), -1 do
  found[#found + 1] = redis.call('LINDEX', KEYS[2], -tonumber(numbers[at])) or nil
end
return found
