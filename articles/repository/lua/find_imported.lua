--[[
Find the articles of one shard, listed or removed, that were posted at given moments.
KEYS  1 time ranking  2 removed
ARGV  1 shard prefix  2… times, s
Returns  {time, link, id, poster, time, link, id, poster …}
Cost  O(times · log N)
]]
local found = {}
for at = 2, #ARGV do
  for _, ranking in ipairs(KEYS) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', ranking, ARGV[at], ARGV[at])) do
      local link, poster = unpack(redis.call('HMGET', ARGV[1] .. 'article:' .. id, 'link', 'poster'))
      for _, part in ipairs({ARGV[at], link or '', id, poster or '0'}) do found[#found + 1] = part end
    end
  end
end
return found
