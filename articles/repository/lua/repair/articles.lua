--[[
Put some articles of one shard, as many as one step can, into exactly the lists that their hashes require. Idempotent.
KEYS  1 removed
ARGV  1 shard prefix  2 now, s  3 grace, s  4 most voters and log entries to examine  5 size of the hot list  6… ids
Returns  {number of articles repaired, {ids of those with too many voters or log entries for one step},
         {state, groups, …} of each}; the state is "listed" | "removed" | "damaged" | "missing"
Cost  O(ids · groups · log N + voters + entries), bounded by 4
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, votes:<user> rw, opposes:<user> rw,
         posted:<user> rw, gone: r, leftout: r, score: rw, time: rw, points: rw, active: rw, top:<period> rw,
         removed: rw, group:<slug> rw, score:<slug> rw, time:<slug> rw, points:<slug> rw, active:<slug> rw,
         hot:score rw, hot:score:<slug> rw, counter:views:<id> rw, hll:uv:<id> rw, counter:suspect:<id> rw,
         days:<id> rw, rings: rw, viewed: rw, history:<id> rw, next:score rw, changes: rw, ranking: rw, log: r
INCLUDE  articles, closing, formulas, lists, members, moderation_log, ranking, values
]]
local prefix, grace = ARGV[1], tonumber(ARGV[3])
local now = moments(prefix, ARGV[2])
local current, report, long, most, examined = parameters(prefix), {}, {}, tonumber(ARGV[4]), 0
local keep, voters_dropped = tonumber(ARGV[5]), tonumber(redis.call('HGET', prefix .. 'ranking:', 'voters_dropped') or '')

local function keys_of_article(id)
  return prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, prefix .. 'leftout:' .. id, prefix .. 'counter:views:' .. id,
    prefix .. 'hll:uv:' .. id, prefix .. 'counter:suspect:' .. id, prefix .. 'days:' .. id, prefix .. 'history:' .. id
end

local function keep_or_drop_voter_sets(id, time, closes)
  local is_dropped = not is_open(now, closes) and voters_dropped and time < voters_dropped
  for _, set in ipairs({prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, prefix .. 'leftout:' .. id}) do
    redis.call(is_dropped and 'UNLINK' or 'PERSIST', set)
  end
end

local function list_choices(id, time)
  local voters = 0
  for _, one in ipairs(CHOICES) do voters = voters + redis.call('SCARD', prefix .. one.set .. id) end
  if voters > most then return true end
  examined = examined + voters
  for _, one in ipairs(CHOICES) do
    for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do list_choice(prefix, one, user, id, time) end
  end
end

-- Return the voters of an open article whose choices are to be left out of ranking, those who voted for it and those who
-- opposed it; nil for a closed article, which keeps what it has.
local function voters_to_leave_out(id, time, closes)
  if not is_open(now, closing_time(prefix, tonumber(time), closes)) then return nil end
  local found = {}
  for n, one in ipairs(CHOICES) do found[n] = redis.call('SINTER', prefix .. 'leftout:', prefix .. one.set .. id) end
  return found
end

local function leave_voters_out(id, voters)
  redis.call('DEL', prefix .. 'leftout:' .. id)
  for _, users in ipairs(voters) do
    in_batches(users, function(...) redis.call('SADD', prefix .. 'leftout:' .. id, ...) end)
  end
  note_left_out(prefix, id, #voters[1], #voters[2])
end

-- The time of the last view only decides when to archive: the present replaces a lost one.
local function note_viewed(id)
  if not page_views(prefix, id) then redis.call('ZREM', prefix .. 'viewed:', id)
  else redis.call('ZADD', prefix .. 'viewed:', 'NX', ARGV[2], id) end
end

-- A damaged sketch cannot distinguish visitors: start an empty one.
local function renew_sketch(id)
  if not sketched_visitors(prefix, id) then
    redis.call('DEL', prefix .. 'hll:uv:' .. id)
    redis.call('PFADD', prefix .. 'hll:uv:' .. id)
  end
end

-- Drop entries that do not concern the article. `repair/log` adds missing ones.
local function forget_entries(id)
  local article, right = prefix .. 'article:' .. id, {}
  local numbers = redis.call('HGET', article, 'log')
  if not numbers then return end
  if #numbers > most / 10 then return true end
  for _, number in ipairs(split(numbers)) do
    examined = examined + 10
    if is_about(prefix, number, id) then right[#right + 1] = number end
  end
  note_entries(article, right)
end

local function note_text(article)
  local size = redis.call('HSTRLEN', article, 'text')
  if size > 0 then redis.call('HSET', article, 'text_bytes', size)
  else redis.call('HDEL', article, 'text', 'text_bytes', 'html') end
end

local done = 0
for at = 6, #ARGV do
  local id, too_long = ARGV[at], false
  local article = prefix .. 'article:' .. id
  local title, link, poster, name, time, closes, votes, opposes, groups, removed, archived, left_out =
    unpack(redis.call('HMGET', article, 'title', 'link', 'poster', 'poster_name', 'time', 'closes', 'votes', 'opposes',
      'groups', 'removed', 'archived', 'left_out'))
  local there = redis.call('EXISTS', article) == 1
  local whole = is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
  local gone = whole and is_left_named(prefix, poster, name)
  report[#report + 1] = not there and 'missing' or not whole and 'damaged' or removed and 'removed' or 'listed'
  report[#report + 1] = groups or ''
  local out = whole and voters_to_leave_out(id, time, closes)
  if out then left_out = #out[1] .. ' ' .. #out[2] end
  if gone then
    redis.call('HSET', article, 'poster', '-1', 'poster_name', '')
    redis.call('ZREM', prefix .. 'posted:' .. poster, id)
  end
  if there and not whole then
    -- Left unchanged, with all its keys: what the hash should say is not known.
  elseif not there then
    unlist_article(prefix, id, {})
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', prefix .. 'viewed:', id)
    redis.call('DEL', keys_of_article(id))
  elseif removed then
    unlist_article(prefix, id, split(groups))
    redis.call('ZADD', KEYS[1], time, id)
  else
    redis.call('ZREM', KEYS[1], id)
    list_article(prefix, id, tonumber(time), ranked_points(votes, opposes, left_out), split(groups), current, keep)
  end
  if not current.next_seconds_per_point then redis.call('ZREM', prefix .. 'next:score', id) end
  if whole then
    note_text(article)
    if out then leave_voters_out(id, out) end
    renew_sketch(id)
    note_viewed(id)
    if not gone then note_posted(prefix, id, poster, time) end
    too_long = forget_entries(id)
    time = tonumber(time)
    closes = as_time(closes) or fix_closing_time(prefix, id, time, votes, opposes, now, grace)
    if is_open(now, closes) then
      too_long = list_choices(id, time) or too_long
      note_window(prefix, time, closes, current)
    end
    keep_or_drop_voter_sets(id, time, closes)
  end
  if too_long then long[#long + 1] = id end
  done, examined = done + 1, examined + 20
  if examined > most then break end
end
return {done, long, report}
