--[[
The current parameters, and the rankings by score, points, time and last comment: of all articles, of a group, of a span.
INCLUDE  formulas, values
]]
-- Return the current parameters. Read them before the first write: a shard that has lost them accepts no change, rather
-- than half of one. `next_seconds_per_point` is the weight that is being applied, nil if none is; `longest_window` is the
-- longest voting window of any article of the shard, in seconds.
local function parameters(prefix)
  local names = {'seconds_per_point', 'alpha', 'beta', 'base', 'gamma', 'refreshed_at'}
  local values = redis.call('HMGET', prefix .. 'ranking:', 'next_seconds_per_point', 'longest_window', unpack(names))
  local found = {next_seconds_per_point = tonumber(values[1] or ''), longest_window = tonumber(values[2] or '') or math.huge}
  for n, name in ipairs(names) do
    found[name] = tonumber(values[n + 2] or '') or error('UNPREPARED there is no ' .. prefix .. 'ranking:')
  end
  return found
end

-- Rank an article in one order: among all articles, and in each of its groups' rankings that exist.
local function rank_by(prefix, order, id, value, groups)
  redis.call('ZADD', prefix .. WHOLE[order], exactly(value), id)
  for _, slug in ipairs(groups) do
    local ranking = prefix .. OF_GROUP[order] .. slug
    if redis.call('EXISTS', ranking) == 1 then redis.call('ZADD', ranking, exactly(value), id) end
  end
end

-- Rank it by score; also in the ranking by the weight that is being applied, which has to be complete when it replaces
-- the current one.
local function rank_by_score(prefix, id, posted_at, points, groups, current)
  rank_by(prefix, 'score', id, score(posted_at, points, current.seconds_per_point), groups)
  if current.next_seconds_per_point then
    redis.call('ZADD', prefix .. 'next:score', exactly(score(posted_at, points, current.next_seconds_per_point)), id)
  end
end

-- Rank it by points; also in the rankings of recent articles that exist: `ranking:` says where each span begins.
local function rank_by_points(prefix, id, posted_at, points, groups)
  local value = by_points(posted_at, points)
  rank_by(prefix, 'points', id, value, groups)
  for _, span in ipairs(SPANS) do
    local ranking = prefix .. 'top:' .. span
    if redis.call('EXISTS', ranking) == 1 then
      local since = tonumber(redis.call('HGET', prefix .. 'ranking:', 'since_' .. span) or '')
      if not since then
        redis.call('DEL', ranking)
      elseif posted_at >= since then
        redis.call('ZADD', ranking, exactly(value), id)
      end
    end
  end
end

-- Rank it by the time of its last comment; rank it nowhere without one.
local function rank_active(prefix, id, last_comment, is_locked, groups)
  if last_comment then return rank_by(prefix, 'active', id, activity(last_comment, is_locked), groups) end
  redis.call('ZREM', prefix .. WHOLE.active, id)
  for _, slug in ipairs(groups) do redis.call('ZREM', prefix .. OF_GROUP.active .. slug, id) end
end

-- Return the next entries of a ranking by posting time, {id, time, id, time …}, and the time to continue from, '' at the
-- end. Posting times never change, so they serve as a cursor; entries with equal times may be returned twice.
local function following(ranking, from, step)
  while true do
    local entries = redis.call('ZRANGEBYSCORE', ranking, from, '+inf', 'WITHSCORES', 'LIMIT', 0, step)
    if #entries < 2 * step then return entries, '' end
    if entries[#entries] ~= from then return entries, entries[#entries] end
    step = 2 * step
  end
end
