--[[
Find the articles of one shard, listed or removed, that were posted at given times. Reads only.
KEYS  1 time ranking  2 removed
ARGV  1 shard prefix  2… times, s
Returns  {time, link or else title, id, time, link or else title, id …}
Cost  O(times · log N)
TOUCHES  article:<id> r, time: r, removed: r
]]
local found = {}
for at = 2, #ARGV do
  for _, ranking in ipairs(KEYS) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', ranking, ARGV[at], ARGV[at])) do
      local title, link = unpack(redis.call('HMGET', ARGV[1] .. 'article:' .. id, 'title', 'link'))
      for _, part in ipairs({ARGV[at], link ~= '' and link or title or '', id}) do found[#found + 1] = part end
    end
  end
end
return found
