--[[
What members chose and posted in this shard, and rate limits. A choice is in the voter set of the article and in the list of
the member; one step changes both, so they agree while the article is open.

The key of a limit holds the moment, in ms, at which all its uses are refilled, and expires then. The same formula as take()
in articles/domain/limits.py.

Voting rings: many new accounts of one network that choose on one article, or on its comments. The article's `ring` holds
the highest number of them, the times of the first and the last choice, and the comment that one of them chose on last;
`ring_checked` the last choice that a moderator has checked.
]]
local CHOICES = {{choice = 'vote', set = 'voted:', list = 'votes:'}, {choice = 'oppose', set = 'oppose:', list = 'opposes:'}}
local CHOICES_KEPT = 1000  -- of one member in one shard; choices on articles that may be open are kept in addition
local RINGS_KEPT = 1000  -- in the list of one shard

local VISITS_KEPT = 500  -- of one member in one shard; up to twice as many until the old ones are dropped
local VISITS_PER_SWEEP = 32  -- visits to further articles after which the old ones are dropped

-- Return whether a voter is a member, neither a placeholder for an unnamed voter nor a damaged id.
local function is_member(user)
  local number = tonumber(user)
  return number and (number < FIRST_PLACEHOLDER or number > LAST_PLACEHOLDER) and as_count(user) and true or false
end

-- Return whether the member's account is deleted.
local function is_gone(prefix, user)
  return redis.call('SISMEMBER', prefix .. 'gone:', user) == 1
end

-- Return whether the poster of an article, or the author of a comment, is a deleted member who is still named there. For some
-- time after the name, what a member posted keeps the member's number: the empty name says that the account is deleted.
local function is_left_named(prefix, user, name)
  return name ~= '' and is_gone(prefix, user)
end

-- Add an article to the list of what its poster posted; an imported article may have no known poster.
local function note_posted(prefix, id, poster, time)
  if (tonumber(poster) or 0) > 0 then redis.call('ZADD', prefix .. 'posted:' .. poster, time, id) end
end

-- Note a choice in the member's lists. `at` is in Unix seconds. Of the choices from before `ended` only the
-- newest are kept: every article posted by then is closed.
local function note_choice(prefix, id, user, choice, at, ended)
  local list, other = prefix .. 'votes:' .. user, prefix .. 'opposes:' .. user
  if choice ~= 'vote' then list, other = other, list end
  redis.call('ZREM', other, id)
  if choice == 'none' then return redis.call('ZREM', list, id) end
  local surplus = redis.call('ZADD', list, 'NX', at, id) == 1 and redis.call('ZCARD', list) - CHOICES_KEPT or 0
  if surplus > 0 then
    surplus = math.min(surplus, redis.call('ZCOUNT', list, '-inf', '(' .. exactly(ended)))
    if surplus > 0 then redis.call('ZREMRANGEBYRANK', list, 0, surplus - 1) end
  end
end

-- Keep the newest visits, of those since `oldest`, in Unix seconds.
local function drop_old_visits(visits, oldest)
  local fields, ended, old = redis.call('HGETALL', visits), {}, {}
  for at = 1, #fields, 2 do
    ended[#ended + 1] = {id = fields[at], at = as_time(string.match(fields[at + 1], '%S+$')) or 0}
  end
  table.sort(ended, function(a, b) return a.at > b.at end)
  for n, visit in ipairs(ended) do
    if n > VISITS_KEPT or visit.at < oldest then old[#old + 1] = visit.id end
  end
  in_batches(old, function(...) redis.call('HDEL', visits, ...) end)
end

-- Note that a member opened an article's page at `now`, in Unix seconds, with as many `comments`; after less than `pause` it
-- is the same visit. Without their number it was the article's link. Return when the visit before ended, in Unix seconds;
-- '' for the first one. `life`: of a visit, in seconds.
local function note_visit(visits, id, now, pause, life, comments)
  local noted = redis.call('HGET', visits, id)
  local before, seen, last = string.match(noted or '', '^(%S+) (%S+) (%S+) ?%S*$')
  last = as_time(last) and last or '-'
  if comments and last ~= '-' and now - tonumber(last) >= pause then before = last end
  before = as_time(before) and before or '-'
  local facts = comments and {before, comments} or {before, seen or '-', last}
  facts[#facts + 1] = string.format('%.3f', now)
  local size = redis.call('HSET', visits, id, table.concat(facts, ' ')) == 1 and redis.call('HLEN', visits) or 1
  redis.call('EXPIRE', visits, life)
  if size > 2 * VISITS_KEPT or size % VISITS_PER_SWEEP == 0 then drop_old_visits(visits, now - life) end
  return before == '-' and '' or before
end

-- Check that a voter's list holds the article; placeholders and deleted members have no lists. The time of the choice is lost
-- with the list, so the posting time replaces it.
local function check_listed(say, prefix, one, user, id, posted_at)
  if not is_member(user) then return end
  local list = prefix .. one.list .. user
  if redis.call('ZSCORE', list, id) or is_gone(prefix, user) then return end
  say('not in ' .. one.list .. user .. ', which is in ' .. one.set)
  if REPAIRS then redis.call('ZADD', list, exactly(posted_at), id) end
end

-- Return when the ring began, in Unix seconds, its number of accounts, its comment or '', and when the last one chose; nil
-- where there is no ring.
local function ring_facts(ring)
  local number, first, last, comment = string.match(ring or '', '^(%d+) (%S+) (%S+) ?(%d*)$')
  return as_time(first), as_count(number), comment, as_time(last)
end

-- List an article by the last choice of its ring.
local function list_ring(prefix, id, last)
  redis.call('ZADD', prefix .. 'rings:', exactly(last), id)
  redis.call('ZREMRANGEBYRANK', prefix .. 'rings:', 0, -RINGS_KEPT - 1)
end

-- Note a choice of a new account on article `id`, or on one of its comments, among the `accounts` of its network. Once
-- `enough` of them have chosen within `period` and since the last check, flag the article; return their number if that is
-- new, else 0. Call it after the last refusal, with the choice written.
local function note_new_account(prefix, accounts, id, user, at, enough, period, comment)
  redis.call('ZREMRANGEBYSCORE', accounts, '-inf', '(' .. exactly(at - period))
  redis.call('ZADD', accounts, 'NX', exactly(at), user)
  redis.call('EXPIRE', accounts, period)
  local article = prefix .. 'article:' .. id
  local ring, checked = unpack(redis.call('HMGET', article, 'ring', 'ring_checked'))
  local since = '(' .. exactly(as_time(checked) or 0)
  local number = redis.call('ZCOUNT', accounts, since, '+inf')
  if number < tonumber(enough) then return 0 end
  local earliest = tonumber(redis.call('ZRANGEBYSCORE', accounts, since, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
  local first, most, last_comment = ring_facts(ring)
  local facts = {math.max(number, most or 0), math.min(earliest, first or earliest), at, comment or last_comment or ''}
  redis.call('HSET', article, 'ring', (string.gsub(string.format('%d %.3f %.3f %s', unpack(facts)), ' $', '')))
  list_ring(prefix, id, at)
  return first and 0 or number
end

-- Take one use; return the time to wait for it, 0 if it was taken. `refill` is the time for one use, `capacity` for all
-- of them; all in ms. Without a limit, `refill` is 0.
local function take_use(key, now, refill, capacity)
  if refill == 0 then return 0 end
  local full_at = tonumber(redis.call('GET', key) or '') or 0
  full_at = math.min(math.max(full_at, now), now + capacity) + refill
  local wait = full_at - now - capacity
  if wait > 0 then return wait end
  redis.call('SET', key, full_at, 'PX', full_at - now)
  return 0
end
