--[[
Suggestions of another title or other groups: a JSON list in the field `suggestions` of an article's hash. A suggestion has
its id, the kind of what it changes, what that `was` and what it suggests (`to`), its time, and who supports it (`by`). One
that was applied or declined keeps only its id and that time: it cannot be made again at once.
]]
local CLOSED_KEPT = 20  -- suggestions of an article that were applied or declined, the newest

-- Return the suggestions of an article, without damaged ones.
local function all_suggestions(article)
  local is_json, list = pcall(cjson.decode, redis.call('HGET', article, 'suggestions') or '[]')
  local found = {}
  for _, one in ipairs(is_json and type(list) == 'table' and list or {}) do
    local is_one = type(one) == 'table' and type(one.id) == 'string' and type(one.at) == 'string' and as_time(one.at)
    if is_one and (not one.by or type(one.by) == 'table' and type(one.to) == 'string') then found[#found + 1] = one end
  end
  return found
end

-- Return what a suggestion of a kind would change, as it compares: the title, or the groups in order.
local function suggestible(kind, title, groups)
  if kind == 'title' then return title end
  local slugs = split(groups)
  table.sort(slugs)
  return table.concat(slugs, ',')
end

-- Return those that are closed, or open: made since a moment, for the title and the groups that the article has now. Also
-- return how many are open, and the one with this id, if any.
local function suggestions_since(article, since, title, groups, id)
  local kept, open, closed, found, list = {}, 0, 0, nil, all_suggestions(article)
  for n = #list, 1, -1 do
    local one = list[n]
    local is_current = one.by and one.was == suggestible(one.kind, title, groups)
    if tonumber(one.at) >= since and (is_current or not one.by and closed < CLOSED_KEPT) then
      table.insert(kept, 1, one)
      if one.by then open = open + 1 else closed = closed + 1 end
      if one.id == id then found = one end
    end
  end
  return kept, open, found
end

local function write_suggestions(article, list)
  if #list == 0 then redis.call('HDEL', article, 'suggestions')
  else redis.call('HSET', article, 'suggestions', cjson.encode(list)) end
end

-- Return the suggestions without this member's support of those of a kind, of all for nil, but for the one that is spared.
-- Those without support are dropped.
local function without_support(list, user, kind, spared)
  local kept = {}
  for _, one in ipairs(list) do
    local is_left = one.by and one ~= spared and (not kind or one.kind == kind)
    for n = is_left and #one.by or 0, 1, -1 do
      if one.by[n] == user then table.remove(one.by, n) end
    end
    if not is_left or #one.by > 0 then kept[#kept + 1] = one end
  end
  return kept
end

-- Return whether supporters alone may change these groups to others: they neither change whether everyone sees the article,
-- given the groups that are closed, nor anything about fixed groups, nor take it out of all the groups into which others
-- than supporters put it.
local function supporters_may(groups, to, closed, brought, fixed)
  for _, slug in ipairs(split(fixed)) do
    if contains(groups, slug) ~= contains(to, slug) then return false end
  end
  local own = table.concat(regroup(groups, '', brought), ',')
  return meet(groups, closed) == meet(to, closed) and (own == '' or meet(own, to))
end

local function close_suggestion(one, now)
  one.kind, one.was, one.to, one.by, one.at = nil, nil, nil, nil, now
end

-- Make the change that is suggested to a whole article, and log it; its poster is notified. Close the suggestion.
local function apply_suggestion(prefix, id, one, actor, now, keep)
  local article, details = prefix .. 'article:' .. id, {supporters = tostring(#one.by)}
  local title, time, votes, opposes, left_out, groups =
    unpack(redis.call('HMGET', article, 'title', 'time', 'votes', 'opposes', 'left_out', 'groups'))
  if one.kind == 'title' then
    details.old_title, title = title, one.to
    redis.call('HSET', article, 'title', title, 'edited', now)
  else
    local leave = {}
    for _, slug in ipairs(split(groups)) do
      if not contains(one.to, slug) then leave[#leave + 1] = slug end
    end
    local kept, added, dropped = regroup(groups, one.to, table.concat(leave, ','))
    details.added, details.removed = table.concat(added, ','), table.concat(dropped, ',')
    list_article(prefix, id, tonumber(time), votes, opposes, left_out, kept, parameters(prefix), keep)
    leave_groups(prefix, id, dropped)
    redis.call('HSET', article, 'groups', table.concat(kept, ','))
  end
  note_changed(prefix, id)
  log_article(prefix, 'apply-suggestion', now, actor, id, title, '', details)
  close_suggestion(one, now)
end
