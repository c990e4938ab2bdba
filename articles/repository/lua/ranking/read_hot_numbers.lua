--[[
Read the numbers that rank a shard's hot list. Reads only.
KEYS  1 hot list  2 time ranking  3 ranking parameters
ARGV  1 shard prefix
Returns  {{version, refreshed at}, {id, time, page views, visitors, id …}}
Cost  O(list)
TOUCHES  time: r, hot:score r, counter:views:<id> r, hll:uv:<id> r, ranking: r
]]
local prefix, numbers = ARGV[1], {}
parameters(prefix)
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local time, pv = redis.call('ZSCORE', KEYS[2], id), page_views(prefix, id)
  if time and pv then
    for _, value in ipairs({id, time, pv, unique_visitors(prefix, id)}) do numbers[#numbers + 1] = value end
  end
end
return {redis.call('HMGET', KEYS[3], 'version', 'refreshed_at'), numbers}
