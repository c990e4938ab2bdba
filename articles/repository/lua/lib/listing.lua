--[[
Add articles to every list they belong to: many with few commands.
]]
-- Return which of these keys exist: true for each name that does; and whether any does. One command if none of them does.
local function existing(names)
  local found, count = {}, 0
  in_batches(names, function(...) count = count + redis.call('EXISTS', ...) end)
  for n = 1, count > 0 and #names or 0 do found[names[n]] = redis.call('EXISTS', names[n]) == 1 or nil end
  return found, count > 0
end

-- Return the rankings of recent articles that exist, each with when its span begins, and those of the articles' groups, as
-- existing() does. A span that does not say when it begins is dropped.
local function made_rankings(prefix, articles)
  local seen, names, spans = {}, {}, {}
  for _, one in ipairs(articles) do
    for _, slug in ipairs(one.groups) do
      for n = 1, seen[slug] and 0 or #ORDERS do names[#names + 1] = prefix .. OF_GROUP[ORDERS[n]] .. slug end
      seen[slug] = true
    end
  end
  for _, span in ipairs(SPANS) do
    local ranking = prefix .. 'top:' .. span
    if redis.call('EXISTS', ranking) == 1 then
      spans[ranking] = tonumber(redis.call('HGET', prefix .. 'ranking:', 'since_' .. span) or '')
      if not spans[ranking] then redis.call('DEL', ranking) end
    end
  end
  return spans, existing(names)
end

-- Add articles to their lists, each list with one command for all; to the hot list if they have been viewed and, where
-- `keep` is given, rank among that many. Each is {id, time, votes, opposes, left_out, groups, last_comment, locked}: groups
-- as a list, the last two as in its hash. Everything that can fail is read before the first write, so a script that may
-- meet damaged data lists an article before it writes anything else.
-- `place_of` returns an article's place among all in an order, or false: what is in its place is neither written, nor noted
-- for search indexes.
local function list_articles(prefix, articles, current, keep, place_of)
  local ids, hot, joined, ranked, unranked, moved, noted = {}, {}, {}, {}, {}, {}, {}
  for n, one in ipairs(articles) do ids[n] = one.id end
  for n, pv in ipairs(all_page_views(prefix, ids)) do
    local one = articles[n]
    hot[n] = pv and hotness(pv, unique_visitors(prefix, one.id), one.time, current)
  end
  local spans, made, any_made = made_rankings(prefix, articles)

  local function put(lists, key, first, second)
    local values = lists[key]
    if not values then
      values = {}
      lists[key] = values
    end
    values[#values + 1] = first
    values[#values + 1] = second
  end
  local function rank(order, one, value)
    local is_right = place_of and value == tonumber(place_of(order, one) or '')
    moved[one] = moved[one] or not is_right
    if is_right and not any_made then return end
    local lists, first, second = unranked, one.id, nil
    if value then lists, first, second = ranked, exactly(value), one.id end
    if not is_right then put(lists, prefix .. WHOLE[order], first, second) end
    for _, slug in ipairs(any_made and one.groups or {}) do
      local ranking = prefix .. OF_GROUP[order] .. slug
      if made[ranking] then put(lists, ranking, first, second) end
    end
  end

  for _, one in ipairs(articles) do
    local by_score, points = values_by_votes(one.time, one.votes, one.opposes, one.left_out, current.seconds_per_point)
    for order, value in pairs({time = one.time, score = by_score, points = points}) do rank(order, one, value) end
    local last_comment = as_time(one.last_comment)
    rank('active', one, last_comment and activity(last_comment, one.locked))
    for ranking, since in pairs(spans) do
      if one.time >= since then put(ranked, ranking, exactly(points), one.id) end
    end
    if current.next_seconds_per_point then
      local staged = values_by_votes(one.time, one.votes, one.opposes, one.left_out, current.next_seconds_per_point)
      put(ranked, prefix .. 'next:score', exactly(staged), one.id)
    end
    for _, slug in ipairs(one.groups) do put(joined, prefix .. 'group:' .. slug, one.id) end
  end
  for group, these in pairs(joined) do in_batches(these, function(...) redis.call('SADD', group, ...) end) end
  for ranking, these in pairs(ranked) do in_batches(these, function(...) redis.call('ZADD', ranking, ...) end) end
  for ranking, these in pairs(unranked) do in_batches(these, function(...) redis.call('ZREM', ranking, ...) end) end
  for n, one in ipairs(articles) do
    if moved[one] then noted[#noted + 1] = one.id end
    if hot[n] then rank_hot(prefix, one.id, hot[n], one.groups, keep or math.huge) end
  end
  note_all_changed(prefix, noted)
end

-- The same for one article, whose last comment is read.
local function list_article(prefix, id, posted_at, votes, opposes, left_out, groups, current, keep)
  local last_comment, locked = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'last_comment', 'locked'))
  local one = {id = id, time = posted_at, votes = votes, opposes = opposes, left_out = left_out, groups = groups}
  one.last_comment, one.locked = last_comment, locked
  list_articles(prefix, {one}, current, keep)
end
