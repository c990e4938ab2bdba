--[[
Read what some articles of one shard record about their comments. Reads only.
KEYS  1… articles
ARGV  none
Returns  {number of the key, comments that are shown, last number given out, time of the last one, number …}, without the
         articles that say nothing of comments; single values are nil where the article lacks them
Cost  O(articles)
TOUCHES  article:<id> r
]]
local noted = {}
for n, article in ipairs(KEYS) do
  local values = redis.call('HMGET', article, 'comments', 'comment_ids', 'last_comment')
  if values[1] or values[2] or values[3] then
    for _, value in ipairs({n, values[1], values[2], values[3]}) do noted[#noted + 1] = value end
  end
end
return noted
