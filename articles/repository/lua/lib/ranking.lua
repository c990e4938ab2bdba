--[[
The current parameters, and the rankings by score, points, time and last comment: of all articles, of a group, of a span.
Choices that are left out of them: the set of an article's voters whose choice is, and how many in its field `left_out`; a
comment has only the field.
INCLUDE  changes, formulas, values
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

-- Rank an article in one order: among all articles, and in each of its groups' rankings that exist.
local function rank_by(prefix, order, id, value, groups)
  redis.call('ZADD', prefix .. WHOLE[order], exactly(value), id)
  for _, slug in ipairs(groups) do
    local ranking = prefix .. OF_GROUP[order] .. slug
    if redis.call('EXISTS', ranking) == 1 then redis.call('ZADD', ranking, exactly(value), id) end
  end
end

-- Rank it by points in the rankings of recent articles that exist: `ranking:` says where each span begins.
local function rank_recent(prefix, id, posted_at, value)
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

-- Rank it in the orders that votes change; also in the ranking by the weight that is being applied, which has to be complete
-- when it replaces the current one.
local function rank_by_votes(prefix, id, posted_at, votes, opposes, left_out, groups, current)
  note_changed(prefix, id)
  local values = values_by_votes(posted_at, votes, opposes, left_out, current.seconds_per_point)
  for _, order in ipairs(BY_VOTES) do rank_by(prefix, order, id, values[order], groups) end
  if current.next_seconds_per_point then
    local staged = score(posted_at, ranked_points(votes, opposes, left_out), current.next_seconds_per_point)
    redis.call('ZADD', prefix .. 'next:score', exactly(staged), id)
  end
  rank_recent(prefix, id, posted_at, values.points)
end

-- Return whether a member's choices are left out of ranking.
local function is_left_out(prefix, user)
  return redis.call('SISMEMBER', prefix .. 'leftout:', user) == 1
end

-- Return a member's choice on an open article: 'vote', 'oppose' or 'none'.
local function choice_of(prefix, id, user)
  if redis.call('SISMEMBER', prefix .. 'voted:' .. id, user) == 1 then return 'vote' end
  return redis.call('SISMEMBER', prefix .. 'oppose:' .. id, user) == 1 and 'oppose' or 'none'
end

-- Return the choice, if it is left out, or 'none'. Call it before the choice changes.
local function choice_left_out(prefix, id, user)
  return redis.call('SISMEMBER', prefix .. 'leftout:' .. id, user) == 1 and choice_of(prefix, id, user) or 'none'
end

-- Note how many votes and opposes of an article are left out; return them as its field holds them, nil if none are.
local function note_left_out(prefix, id, votes, opposes)
  local article = prefix .. 'article:' .. id
  if votes + opposes == 0 then
    redis.call('HDEL', article, 'left_out')
    return nil
  end
  local field = string.format('%d %d', votes, opposes)
  redis.call('HSET', article, 'left_out', field)
  return field
end

-- Leave a member's choice on an article out, instead of the choice left out before; either may be 'none'. Return the
-- article's field.
local function leave_out(prefix, id, user, before, after, field)
  if before == after then return field end
  local votes, opposes = counts_left_out(field)
  local is_none = after == 'none'
  redis.call(is_none and 'SREM' or 'SADD', prefix .. 'leftout:' .. id, user)
  votes = votes + (after == 'vote' and 1 or 0) - (before == 'vote' and 1 or 0)
  opposes = opposes + (after == 'oppose' and 1 or 0) - (before == 'oppose' and 1 or 0)
  return note_left_out(prefix, id, math.max(0, votes), math.max(0, opposes))
end

-- Note how many votes and opposes of an open comment are by members whose choices are left out of ranking; return them as
-- its field `left_out` holds them, nil if none are. `field`: what it holds now. Few members are left out.
local function leave_out_of_comment(prefix, id, field)
  local members, now = prefix .. 'leftout:'
  if field or redis.call('EXISTS', members) == 1 then
    local votes = #redis.call('SINTER', members, prefix .. 'comment:voted:' .. id)
    local opposes = #redis.call('SINTER', members, prefix .. 'comment:oppose:' .. id)
    now = votes + opposes > 0 and votes .. ' ' .. opposes or nil
  end
  if now and now ~= field then redis.call('HSET', prefix .. 'comment:' .. id, 'left_out', now)
  elseif field and not now then redis.call('HDEL', prefix .. 'comment:' .. id, 'left_out') end
  return now
end

-- Add the poster's own vote to a new article, left out if the poster's choices are; return the article's field.
local function add_first_vote(prefix, voted, id, poster)
  redis.call('SADD', voted, poster)
  return leave_out(prefix, id, poster, 'none', is_left_out(prefix, poster) and 'vote' or 'none')
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
