--[[
When voting on an article ends, and by which clock.
]]
-- Return the present, and a moment that has certainly passed, in Unix seconds: the later and the earlier of the caller's
-- clock and the shard's, which never goes back and hardly jumps (clock/advance). Thus a machine whose clock jumps neither
-- opens what is closed nor drops what is open.
local function moments_by(clock, now)
  clock, now = as_time(clock), tonumber(now)
  return math.max(now, clock or now), math.min(now, clock or 0)
end

-- The same, with the shard's clock read.
local function moments(prefix, now)
  return moments_by(redis.call('HGET', prefix .. 'ranking:', 'clock'), now)
end

-- Return when voting ends: the time in the article's hash or, where it has none, the shard's `voting_window` after
-- posting. Votes count up to and including that millisecond.
local function closing_time(prefix, posted_at, closes)
  return as_time(closes) or posted_at + (tonumber(redis.call('HGET', prefix .. 'ranking:', 'voting_window') or '') or 0)
end

local function is_open(now, closes)
  return milliseconds(now) <= milliseconds(closes)
end

-- Go back to an article, in one of the fields of `ranking:` that say up to which posting time all articles have been handled.
local function go_back(prefix, field, posted_at)
  local reached = tonumber(redis.call('HGET', prefix .. 'ranking:', field) or '')
  if reached and tonumber(posted_at) < reached then redis.call('HSET', prefix .. 'ranking:', field, exactly(posted_at)) end
end

-- Note that the ballot record of a closed article is not up to date: votes have moved with a merge.
local function votes_moved(prefix, id, posted_at)
  local article = prefix .. 'article:' .. id
  if redis.call('HEXISTS', article, 'ballots') == 0 then return end
  redis.call('HSET', article, 'ballots', 0)
  go_back(prefix, 'ballots_recorded', posted_at)
end

-- Note an article that is open, or will be: it is to be recorded, and its voters are to be dropped, even if those of articles
-- posted later are gone already. Remember the longest voting window of the shard's articles: no choice on an article that may
-- be open is dropped, nor is its voter set.
local function note_window(prefix, posted_at, closes, current)
  go_back(prefix, 'ballots_recorded', posted_at)
  go_back(prefix, 'voters_dropped', posted_at)
  if milliseconds(closes) - milliseconds(posted_at) <= milliseconds(current.longest_window) then return end
  current.longest_window = closes - posted_at
  redis.call('HSET', prefix .. 'ranking:', 'longest_window', string.format('%.3f', current.longest_window))
end

-- Write the missing closing time into an article. Voter sets that have been dropped, `grace` seconds after voting ended,
-- show that voting is over: the article is not opened again.
local function fix_closing_time(prefix, id, posted_at, votes, opposes, now, grace)
  local closes = closing_time(prefix, posted_at)
  for key, count in pairs({[prefix .. 'voted:' .. id] = votes, [prefix .. 'oppose:' .. id] = opposes}) do
    local is_dropped = tonumber(count) > 0 and redis.call('EXISTS', key) == 0
    if is_dropped then closes = math.max(posted_at, math.min(closes, now - grace)) end
  end
  redis.call('HSET', prefix .. 'article:' .. id, 'closes', string.format('%.3f', closes))
  return closes
end
