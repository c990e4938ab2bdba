--[[
Read what some articles of one shard are indexed by, and the groups that they name. Reads only.
KEYS  1… articles
ARGV  none
Returns  {title, link, poster's name, words, groups, state} of each, one after the other; the state is "listed" | "removed"
         | "damaged", also for a missing one. Other values are nil where the article lacks them
Cost  O(articles)
TOUCHES  article:<id> r
INCLUDE  values
]]
local facts = {}
for _, article in ipairs(KEYS) do
  local title, link, name, words, groups, poster, time, votes, opposes, archived, removed = unpack(redis.call('HMGET', article,
    'title', 'link', 'poster_name', 'words', 'groups', 'poster', 'time', 'votes', 'opposes', 'archived', 'removed'))
  local whole = is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
  local state = not whole and 'damaged' or removed and 'removed' or 'listed'
  for _, fact in ipairs({title, link, name, words, groups, state}) do facts[#facts + 1] = fact end
end
return facts
