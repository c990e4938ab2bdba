--[[
Read a part of a shard's hot list, counting only articles posted since a moment. Reads only.
KEYS  1 hot list  2 time ranking  3 ranking parameters
ARGV  1 posted at this moment or later, s  2 first entry, counted from 0, hottest first  3 last entry
Returns  {number of such entries, {id, hotness, id, hotness …}, {version, refreshed at}}
Cost  O(list)
TOUCHES  time: r, hot:score r, ranking: r
]]
local since, first, last = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local total, part, hottest = 0, {}, 0
repeat
  local entries = redis.call('ZREVRANGE', KEYS[1], hottest, hottest + VALUES_AT_ONCE - 1, 'WITHSCORES')
  local ids = {}
  for at = 1, #entries, 2 do ids[#ids + 1] = entries[at] end
  local times = #ids > 0 and redis.call('ZMSCORE', KEYS[2], unpack(ids)) or {}
  for at, id in ipairs(ids) do
    if times[at] and tonumber(times[at]) >= since then
      if total >= first and total <= last then part[#part + 1], part[#part + 2] = id, entries[2 * at] end
      total = total + 1
    end
  end
  hottest = hottest + VALUES_AT_ONCE
until #ids < VALUES_AT_ONCE
return {total, part, redis.call('HMGET', KEYS[3], 'version', 'refreshed_at')}
