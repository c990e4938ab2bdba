--[[
Find the articles of one shard, listed or removed, that were posted at given times. Reads only.
KEYS  1 time ranking  2 removed
ARGV  1 shard prefix  2… times, s
Returns  {time, link, id, time, link, id …}
Cost  O(times · log N)
TOUCHES  article:<id> r, time: r, removed: r
]]
local found = {}
for at = 2, #ARGV do
  for _, ranking in ipairs(KEYS) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', ranking, ARGV[at], ARGV[at])) do
      local link = redis.call('HGET', ARGV[1] .. 'article:' .. id, 'link')
      for _, part in ipairs({ARGV[at], link or '', id}) do found[#found + 1] = part end
    end
  end
end
return found
