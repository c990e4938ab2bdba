--[[
Put before every script: the few things more than one of them does.
A shard's prefix is empty or a hash tag; key names are built from it inside the same shard only.
]]
local ORDERS = {'score', 'time'}

-- A number as text that reads back as the same double (Lua's own tostring keeps 14 digits).
local function exactly(number)
  return string.format('%.17g', number)
end

local function split(list)
  local parts = {}
  for part in string.gmatch(list or '', '[^,]+') do parts[#parts + 1] = part end
  return parts
end

-- To be read before the first write: a shard that has lost it takes no change, not half of one.
local function seconds_per_point(prefix)
  local value = redis.call('HGET', prefix .. 'ranking:', 'seconds_per_point')
  return tonumber(value) or error('UNPREPARED there is no ' .. prefix .. 'ranking:')
end

-- The same formula as ranking.py's score().
local function score(posted_at, points, per_point)
  return posted_at + per_point * points
end

-- Whole milliseconds, so that the end of a window is exact.
local function milliseconds(seconds)
  return math.floor(seconds * 1000 + 0.5)
end

-- Place an article in one order, and in those of its groups' rankings that exist.
local function rank(prefix, order, id, value, groups)
  redis.call('ZADD', prefix .. order .. ':', exactly(value), id)
  for _, slug in ipairs(groups) do
    local ranking = prefix .. order .. ':' .. slug
    if redis.call('EXISTS', ranking) == 1 then redis.call('ZADD', ranking, exactly(value), id) end
  end
end

local function join_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do redis.call('SADD', prefix .. 'group:' .. slug, id) end
end

local function leave_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do
    redis.call('SREM', prefix .. 'group:' .. slug, id)
    for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. order .. ':' .. slug, id) end
  end
end

-- Put an article into every list it belongs to.
local function list_article(prefix, id, posted_at, points, per_point, groups)
  join_groups(prefix, id, groups)
  rank(prefix, 'score', id, score(posted_at, points, per_point), groups)
  rank(prefix, 'time', id, posted_at, groups)
end

-- Take an article out of every list.
local function unlist_article(prefix, id, groups)
  leave_groups(prefix, id, groups)
  for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. order .. ':', id) end
end

-- Append to the moderation log. `at` in Unix seconds, as text.
local function log(prefix, action, at, actor, id, title, reason, details)
  redis.call('LPUSH', prefix .. 'log:', cjson.encode({
    action = action, at = at, actor = actor, id = id, title = title, reason = reason, details = details,
  }))
end
