--[[
Add an article to every list it belongs to, or take it out of all of them.
INCLUDE  formulas, groups, hot_list, page_views, ranking
]]
-- Add an article to its lists; to the hot list if it has been viewed and, where `keep` is given, ranks among that many.
-- Everything that can fail is read before the first write, so a script that may meet damaged data lists the article
-- before it writes anything else.
local function list_article(prefix, id, posted_at, points, groups, current, keep)
  local pv = page_views(prefix, id)
  local hot = pv and hotness(pv, unique_visitors(prefix, id), posted_at, current)
  join_groups(prefix, id, groups)
  rank_by_score(prefix, id, posted_at, points, groups, current)
  rank_by_points(prefix, id, posted_at, points, groups)
  rank_by(prefix, 'time', id, posted_at, groups)
  if hot then rank_hot(prefix, id, hot, groups, keep or math.huge) end
end

local function unlist_article(prefix, id, groups)
  leave_groups(prefix, id, groups)
  for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. WHOLE[order], id) end
  for _, span in ipairs(SPANS) do redis.call('ZREM', prefix .. 'top:' .. span, id) end
  redis.call('ZREM', prefix .. 'next:score', id)
end
