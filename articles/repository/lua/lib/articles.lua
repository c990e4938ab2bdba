--[[
Articles: their texts, their page views and visitors, and all that a page shows, with a member's choices.
]]
-- Write an article's text with its HTML, and its size in bytes; none of them without a text.
local function set_text(article, text, html)
  if text == '' then
    redis.call('HDEL', article, 'text', 'text_bytes', 'html')
  else
    redis.call('HSET', article, 'text', text, 'text_bytes', #text, 'html', html)
  end
end

-- Return an article's page views; nil where there are none.
local function page_views(prefix, id)
  return tonumber(redis.call('GET', prefix .. 'counter:views:' .. id) or '')
end

-- Return the page views of many articles in the order of their ids; false where there are none.
local function all_page_views(prefix, ids)
  local names, found = {}, {}
  for n, id in ipairs(ids) do names[n] = prefix .. 'counter:views:' .. id end
  in_batches(names, function(...)
    for _, count in ipairs(redis.call('MGET', ...)) do found[#found + 1] = tonumber(count or '') or false end
  end)
  return found
end

-- Return the keys of an article's page views, visitors and suspect views.
local function counters_of(prefix, id)
  return prefix .. 'counter:views:' .. id, prefix .. 'hll:uv:' .. id, prefix .. 'counter:suspect:' .. id
end

local function unique_visitors(prefix, id)
  return redis.call('PFCOUNT', prefix .. 'hll:uv:' .. id)
end

-- Return {{weight of a vote, voting window}, {field, field …}, views, visitors, voted, opposed, visit, and so on for each};
-- the last three only for a member: `user` is '' otherwise. `ranking` is the key of the ranking parameters.
-- Without `shows_visitors` they are not counted, and all 0.
local function read_articles(prefix, ranking, ids, user, shows_visitors, fields)
  local values = {redis.call('HMGET', ranking, 'seconds_per_point', 'voting_window')}
  local function add(value) values[#values + 1] = value end
  local views = all_page_views(prefix, ids)
  local of_member = user ~= '' and #ids > 0
  local visits = of_member and redis.call('HMGET', prefix .. 'visits:' .. user, unpack(ids)) or {}
  local votes = of_member and redis.call('ZMSCORE', prefix .. 'votes:' .. user, unpack(ids)) or {}
  local opposes = of_member and redis.call('ZMSCORE', prefix .. 'opposes:' .. user, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    add(redis.call('HMGET', prefix .. 'article:' .. id, unpack(fields)))
    add(views[n] or 0)
    add(shows_visitors and unique_visitors(prefix, id) or 0)
    if user ~= '' then
      add(votes[n] and 1 or 0)
      add(opposes[n] and 1 or 0)
      add(visits[n] or '')
    end
  end
  return values
end

-- Return 1 for each id that is among a member's saved articles, or 0.
local function saved_among(saved, ids)
  local saved_at, found = #ids > 0 and redis.call('ZMSCORE', saved, unpack(ids)) or {}, {}
  for n = 1, #ids do found[n] = saved_at[n] and 1 or 0 end
  return found
end
