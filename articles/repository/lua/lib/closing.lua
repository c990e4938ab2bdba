--[[
When voting on an article ends, and how long its voter sets are kept.
INCLUDE  values
]]
-- Return when voting ends: the time in the article's hash or, where it has none, the shard's `voting_window` after
-- posting. Votes count up to and including that millisecond.
local function closing_time(prefix, posted_at, closes)
  return as_time(closes) or posted_at + (tonumber(redis.call('HGET', prefix .. 'ranking:', 'voting_window') or '') or 0)
end

local function is_open(now, closes)
  return milliseconds(now) <= milliseconds(closes)
end

-- Remember the longest voting window of the shard's articles: no choice on an article that may be open is dropped.
local function note_window(prefix, posted_at, closes, current)
  if milliseconds(closes) - milliseconds(posted_at) > milliseconds(current.longest_window) then
    redis.call('HSET', prefix .. 'ranking:', 'longest_window', string.format('%.3f', closes - posted_at))
  end
end

-- Let a voter set expire `grace` seconds after voting ends: until then it decides who has voted.
local function end_voter_set(key, closes, now, grace)
  redis.call('EXPIRE', key, math.max(math.ceil(closes + grace - now), grace))
end

-- Write the missing closing time into an article. Voter sets that have expired, `grace` seconds after voting ended, show
-- that voting is over: the article is not opened again.
local function fix_closing_time(prefix, id, posted_at, votes, opposes, now, grace)
  local closes = closing_time(prefix, posted_at)
  for key, count in pairs({[prefix .. 'voted:' .. id] = votes, [prefix .. 'oppose:' .. id] = opposes}) do
    local expired = tonumber(count) > 0 and redis.call('EXISTS', key) == 0
    if expired then closes = math.max(posted_at, math.min(closes, now - grace)) end
  end
  redis.call('HSET', prefix .. 'article:' .. id, 'closes', string.format('%.3f', closes))
  return closes
end
