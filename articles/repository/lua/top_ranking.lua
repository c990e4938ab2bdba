--[[
Make the ranking by points of what was posted since a moment, and read a part.
KEYS  1 the ranking, to be made  2 time ranking  3 points ranking  4 ranking parameters
ARGV  1 shard prefix  2 span (day|week|month)  3 since, s  4 life, s  5 first entry, counted from 0, best first  6 last entry
Returns  {how many articles it has, {id, value, id, value …}, {version, refreshed at}}
Cost  O(articles of the span · log of them)
]]
local held = make_top(ARGV[1], ARGV[2], ARGV[3], ARGV[4])
local state = redis.call('HMGET', KEYS[4], 'version', 'refreshed_at')
if not held then
  return {redis.call('ZCARD', KEYS[1]), redis.call('ZREVRANGE', KEYS[1], ARGV[5], ARGV[6], 'WITHSCORES'), state}
end
local part = {}
for at = 2 * ARGV[5] + 1, math.min(2 * ARGV[6] + 2, #held) do part[#part + 1] = held[at] end
return {#held / 2, part, state}
