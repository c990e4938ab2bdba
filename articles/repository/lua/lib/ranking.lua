--[[
The current parameters, and the rankings by score, points, time and last comment: of all articles, of a group, of a span.
]]
-- Return the current parameters. Read them before the first write: a shard that has lost them accepts no change, rather
-- than half of one. `next_seconds_per_point` is the weight that is being applied, nil if none is; `longest_window` is the
-- longest voting window of any article of the shard, in seconds.
local function parameters(prefix)
  local names = {'seconds_per_point', 'refreshed_at', unpack(HOT_PARAMETERS)}
  local values = redis.call('HMGET', prefix .. 'ranking:', 'next_seconds_per_point', 'longest_window', unpack(names))
  local found = {next_seconds_per_point = tonumber(values[1] or ''), longest_window = tonumber(values[2] or '') or math.huge}
  for n, name in ipairs(names) do
    found[name] = tonumber(values[n + 2] or '') or error('UNPREPARED there is no ' .. prefix .. 'ranking:')
  end
  return found
end

-- Return the weight of a vote, the one that is being applied, the longest voting window, and the clock's text. The same as
-- parameters() and moments() read, without what only the hot list needs: a vote reads nothing else of the shard.
local function weights(prefix)
  local weight, next_weight, longest_window, clock =
    unpack(redis.call('HMGET', prefix .. 'ranking:', 'seconds_per_point', 'next_seconds_per_point', 'longest_window', 'clock'))
  weight = tonumber(weight or '') or error('UNPREPARED there is no ' .. prefix .. 'ranking:')
  return {seconds_per_point = weight, next_seconds_per_point = tonumber(next_weight or '')},
    tonumber(longest_window or '') or math.huge, clock
end

-- Rank an article in one order: among all articles, and in each of its groups' rankings that exist.
local function rank_by(prefix, order, id, value, groups)
  redis.call('ZADD', prefix .. WHOLE[order], value, id)
  for _, slug in ipairs(groups) do
    local ranking = prefix .. OF_GROUP[order] .. slug
    if redis.call('EXISTS', ranking) == 1 then redis.call('ZADD', ranking, value, id) end
  end
end

-- Rank a listed article in the orders that votes change; also by the weight that is being applied, whose ranking has to be
-- complete when it replaces the current one. The rankings of its groups and of recent articles that exist hold it, but for
-- those of spans that began after it was posted.
local function rank_by_votes(prefix, id, posted_at, votes, opposes, left_out, groups, current)
  note_changed(prefix, id)
  local by_score, points = values_by_votes(posted_at, votes, opposes, left_out, current.seconds_per_point)
  redis.call('ZADD', prefix .. WHOLE.score, by_score, id)
  redis.call('ZADD', prefix .. WHOLE.points, points, id)
  if current.next_seconds_per_point then
    local staged = values_by_votes(posted_at, votes, opposes, left_out, current.next_seconds_per_point)
    redis.call('ZADD', prefix .. 'next:score', staged, id)
  end
  local rankings, count = {}, 0
  for slug in string.gmatch(groups, '[^,]+') do
    rankings[count + 1], rankings[count + 2] = prefix .. OF_GROUP.score .. slug, prefix .. OF_GROUP.points .. slug
    count = count + 2
  end
  for n, span in ipairs(SPANS) do rankings[count + n] = prefix .. 'top:' .. span end
  if redis.call('EXISTS', unpack(rankings)) == 0 then return end
  for n, ranking in ipairs(rankings) do
    redis.call('ZADD', ranking, 'XX', n <= count and n % 2 == 1 and by_score or points, id)
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

-- Return how many entries of a ranking come before those of a value, from the lowest or the highest on, and the ids of
-- those of this value up to one.
local function up_to(ranking, from_highest, value, id)
  local ids = {}
  for _, one in ipairs(redis.call('ZRANGEBYSCORE', ranking, value, value)) do
    if one == id or (tonumber(one) > tonumber(id)) == from_highest then ids[#ids + 1] = one end
  end
  return redis.call('ZCOUNT', ranking, from_highest and '(' .. value or '-inf', from_highest and '+inf' or '(' .. value), ids
end
