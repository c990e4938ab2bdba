--[[
Take an article out of every list it belongs to. The hot list: adding an article, dropping some, rescoring all of it.
Membership in groups, and their titles.
]]
local MOST_DROPPED = 100  -- entries dropped in one step to make room for an article

-- Drop entries from the hot list and from those of their groups.
local function drop_from_hot(prefix, ids)
  local groups = {}
  for n, id in ipairs(ids) do
    groups[n] = split(redis.call('HGET', prefix .. 'article:' .. id, 'groups') or '')
  end
  for n, id in ipairs(ids) do
    redis.call('ZREM', prefix .. WHOLE.hot, id)
    for _, slug in ipairs(groups[n]) do redis.call('ZREM', prefix .. OF_GROUP.hot .. slug, id) end
  end
end

-- Rank an article on the hot list, which keeps `keep` entries. A list of twice that size takes only articles that would
-- survive the next rescoring, and drops its coldest.
local function rank_hot(prefix, id, value, groups, keep)
  local list = prefix .. WHOLE.hot
  local too_many = redis.call('ZCARD', list) + 1 - 2 * keep
  if too_many > 0 and not redis.call('ZSCORE', list, id) then
    if value < tonumber(redis.call('ZREVRANGE', list, keep - 1, keep - 1, 'WITHSCORES')[2]) then return end
    drop_from_hot(prefix, redis.call('ZRANGE', list, 0, math.min(too_many, MOST_DROPPED) - 1))
  end
  rank_by(prefix, 'hot', id, value, groups)
end

-- Rescore a shard's hot list for the moment `at`, drop what is not a listed article with views, and cut the list to its
-- first `keep` entries. The groups' rankings are deleted; their next readers make them. Return how many entries are left.
local function rescore_hot_list(prefix, at, keep)
  local current, list, placed, dropped, touched = parameters(prefix), prefix .. WHOLE.hot, {}, {}, {}
  current.refreshed_at = tonumber(at)
  local ids = redis.call('ZRANGE', list, 0, -1)
  local views = all_page_views(prefix, ids)
  for n, id in ipairs(ids) do
    local time, groups, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'groups', 'removed'))
    time = as_time(time)
    if time and views[n] and not removed then
      placed[#placed + 1] = exactly(hotness(views[n], unique_visitors(prefix, id), time, current))
      placed[#placed + 1] = id
    else dropped[#dropped + 1] = id end
    touched[groups or ''] = true
  end

  in_batches(placed, function(...) redis.call('ZADD', list, ...) end)
  in_batches(dropped, function(...) redis.call('ZREM', list, ...) end)
  for groups in pairs(touched) do
    for _, slug in ipairs(split(groups)) do redis.call('DEL', prefix .. OF_GROUP.hot .. slug) end
  end
  redis.call('ZREMRANGEBYRANK', list, 0, -keep - 1)
  redis.call('HSET', prefix .. 'ranking:', 'refreshed_at', at)
  return redis.call('ZCARD', list)
end

local function has_title(groups, title)
  for _, one in ipairs(redis.call('HVALS', groups)) do
    if one == title then return true end
  end
  return false
end

-- Take an article out of groups and out of their rankings.
local function leave_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do
    redis.call('SREM', prefix .. 'group:' .. slug, id)
    for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. OF_GROUP[order] .. slug, id) end
  end
end

local function unlist_article(prefix, id, groups)
  leave_groups(prefix, id, groups)
  for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. WHOLE[order], id) end
  for _, span in ipairs(SPANS) do redis.call('ZREM', prefix .. 'top:' .. span, id) end
  for _, list in ipairs({'next:score', 'rings:'}) do redis.call('ZREM', prefix .. list, id) end
end

-- Drop what there is of an article beside its hash, its discussion, and the lists of members.
local function drop_article(prefix, id, groups)
  unlist_article(prefix, id, groups)
  for _, list in ipairs({'removed:', 'viewed:', 'merging:'}) do redis.call('ZREM', prefix .. list, id) end
  redis.call('DEL', prefix .. 'brought:' .. id, prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, prefix .. 'leftout:' .. id)
  redis.call('DEL', prefix .. 'counter:views:' .. id, prefix .. 'hll:uv:' .. id, prefix .. 'counter:suspect:' .. id,
    prefix .. 'days:' .. id, prefix .. 'history:' .. id)
end

-- Return whether two lists of groups have one in common.
local function meet(some, others)
  for _, slug in ipairs(split(some)) do
    if contains(others, slug) then return true end
  end
  return false
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
