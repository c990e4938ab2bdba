--[[
Count a member's listed articles, and the shown comments on listed articles, without what is in some groups. Reads only.
KEYS  1 articles of the member  2 comments of the member
ARGV  1 shard prefix  2 groups that the reader does not see, comma-separated
Returns  {articles, comments}
Cost  O(articles + comments)
TOUCHES  article:<id> r, comment:<comment> r, posted:<user> r, commented:<user> r
]]
local prefix, closed, known = ARGV[1], split(ARGV[2]), {}

local function is_listed(id)
  if known[id] == nil then
    local read = redis.call('HMGET', prefix .. 'article:' .. id, 'groups', 'removed')
    known[id] = read[1] and not read[2] or false
    for _, slug in ipairs(closed) do known[id] = known[id] and not contains(read[1], slug) end
  end
  return known[id]
end

local articles, comments = 0, 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do articles = articles + (is_listed(id) and 1 or 0) end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local read = redis.call('HMGET', prefix .. 'comment:' .. id, 'parent', 'removed', 'deleted')
  local is_shown = read[1] and not read[2] and not read[3]
  comments = comments + (is_shown and is_listed(article_of(id)) and 1 or 0)
end
return {articles, comments}
