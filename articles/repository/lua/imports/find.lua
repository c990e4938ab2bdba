--[[
Find the articles of one shard, listed or removed, that were posted at given times. Reads only.
KEYS  1 time ranking, or removed
ARGV  1 shard prefix  2 articles of the first time to skip  3 most articles to find  4… times, s
Returns  {number of times done, articles of the next time that are done,
         {time, link or else title, id, time, link or else title, id …}}
Cost  O(times · log N + articles found), bounded by 3
TOUCHES  article:<id> r, time: r, removed: r
]]
local found, skip, left = {}, tonumber(ARGV[2]), tonumber(ARGV[3])
for at = 4, #ARGV do
  local ids = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[at], ARGV[at], 'LIMIT', skip, left)
  for _, id in ipairs(ids) do
    local title, link = unpack(redis.call('HMGET', ARGV[1] .. 'article:' .. id, 'title', 'link'))
    for _, part in ipairs({ARGV[at], link ~= '' and link or title or '', id}) do found[#found + 1] = part end
  end
  left, skip = left - #ids, skip + #ids
  if left == 0 then return {at - 4, skip, found} end
  skip = 0
end
return {#ARGV - 3, 0, found}
