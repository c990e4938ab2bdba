--[[
Read a part of a shard's hot list, counting only articles posted since a moment. Reads only.
KEYS  1 hot list  2 time ranking  3 ranking parameters
ARGV  1 posted at this moment or later, s  2 first entry, counted from 0, hottest first  3 last entry
Returns  {number of such entries, {id, hotness, id, hotness …}, {version, refreshed at}}
Cost  O(list)
TOUCHES  time: r, hot:score r, ranking: r
]]
local since, first, last = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local total, part = 0, {}
local entries = redis.call('ZREVRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for at = 1, #entries, 2 do
  local time = redis.call('ZSCORE', KEYS[2], entries[at])
  if time and tonumber(time) >= since then
    if total >= first and total <= last then part[#part + 1], part[#part + 2] = entries[at], entries[at + 1] end
    total = total + 1
  end
end
return {total, part, redis.call('HMGET', KEYS[3], 'version', 'refreshed_at')}
