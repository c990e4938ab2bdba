--[[
Add an article to every list it belongs to, or take it out of all of them. Membership in groups, and their titles.
INCLUDE  articles, formulas, hot_list, ranking, values
]]
local function has_title(groups, title)
  for _, one in ipairs(redis.call('HVALS', groups)) do
    if one == title then return true end
  end
  return false
end

local function join_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do redis.call('SADD', prefix .. 'group:' .. slug, id) end
end

-- Take an article out of groups and out of their rankings.
local function leave_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do
    redis.call('SREM', prefix .. 'group:' .. slug, id)
    for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. OF_GROUP[order] .. slug, id) end
  end
end

-- Add an article to its lists; to the hot list if it has been viewed and, where `keep` is given, ranks among that many.
-- Everything that can fail is read before the first write, so a script that may meet damaged data lists the article
-- before it writes anything else.
local function list_article(prefix, id, posted_at, points, groups, current, keep)
  local pv = page_views(prefix, id)
  local hot = pv and hotness(pv, unique_visitors(prefix, id), posted_at, current)
  local last_comment, locked = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'last_comment', 'locked'))
  join_groups(prefix, id, groups)
  rank_by_score(prefix, id, posted_at, points, groups, current)
  rank_by_points(prefix, id, posted_at, points, groups)
  rank_by(prefix, 'time', id, posted_at, groups)
  rank_active(prefix, id, as_time(last_comment), locked, groups)
  if hot then rank_hot(prefix, id, hot, groups, keep or math.huge) end
end

local function unlist_article(prefix, id, groups)
  leave_groups(prefix, id, groups)
  for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. WHOLE[order], id) end
  for _, span in ipairs(SPANS) do redis.call('ZREM', prefix .. 'top:' .. span, id) end
  for _, list in ipairs({'next:score', 'rings:'}) do redis.call('ZREM', prefix .. list, id) end
end

-- Return the groups of an article, as lists, once it joins some and leaves others, all given comma-separated: those it
-- is in then, those it joins and those it leaves. A group that is to be joined and left is left.
local function regroup(groups, join, leave)
  local unwanted, present, kept, joined, left = {}, {}, {}, {}, {}
  for _, slug in ipairs(split(leave)) do unwanted[slug] = true end
  for _, slug in ipairs(split(groups)) do
    present[slug] = true
    if unwanted[slug] then left[#left + 1] = slug else kept[#kept + 1] = slug end
  end
  for _, slug in ipairs(split(join)) do
    if not present[slug] and not unwanted[slug] then
      present[slug] = true
      joined[#joined + 1], kept[#kept + 1] = slug, slug
    end
  end
  return kept, joined, left
end
