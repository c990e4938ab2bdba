--[[
Check the invariants of some articles of one shard, as many as one step can. Repairing, put them into exactly the lists that
their hashes require, and correct the rest, but not the counts of votes. Idempotent. A damaged article keeps what it has: what
its hash should say is not known.
KEYS  1 removed
ARGV  1 shard prefix  2 now, s  3 most voters and log entries to examine  4 grace, s  5 size of the hot list
      6 ids, separated by commas, of those that have voter sets or counters, as far as the caller knows
      7… ids
Returns  {number of articles checked, {ids of those with too many voters or log entries for one step},
         {id, problem, id, problem …}, {groups, state, 1 if it has any field about comments, or 0, id of the article into which it was merged, what was
         merged into it; the last two may be '', of each article checked}};
         the state is "listed" | "removed" | "damaged" | "missing". The groups are nil where the article lacks them
Cost  O(ids · groups · log N + voters + entries), bounded by 3
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, votes:<user> rw,
         opposes:<user> rw, posted:<user> w, gone: r, leftout: r, leftout:acts: r, <order>: rw, top:<period> w,
         merging: rw, removed: rw, group:<slug> w, <order>:<slug> w, hot:score w, counter:views:<id> rw,
         hll:uv:<id> rw, counter:suspect:<id> w, days:<id> w, rings: rw, viewed: rw, history:<id> w, next:score rw,
         changes: w, ranking: rw, log: r
]]
local prefix, current = ARGV[1], REPAIRS and parameters(ARGV[1])
local now = moments(prefix, ARGV[2])
-- nil where lost
local seconds_per_point, next_seconds_per_point, cursor, longest, voters_dropped = unpack(redis.call('HMGET',
  prefix .. 'ranking:', 'seconds_per_point', 'next_seconds_per_point', 'next_cursor', 'longest_window', 'voters_dropped'))
seconds_per_point, next_seconds_per_point = tonumber(seconds_per_point or ''), tonumber(next_seconds_per_point or '')
longest, voters_dropped = tonumber(longest or ''), tonumber(voters_dropped or '')
local findings, long, facts, most, examined, listed = {}, {}, {}, tonumber(ARGV[3]), 0, {}
local each = REPAIRS and 8 or 4  -- what an article counts as, at least
local ids = {unpack(ARGV, 7, math.min(#ARGV, 7 + math.floor(most / each)))}
local with_sets = {}
for _, id in ipairs(split(ARGV[6])) do with_sets[id] = true end
local any_gone = redis.call('EXISTS', prefix .. 'gone:') == 1
local any_left_out = redis.call('EXISTS', prefix .. 'leftout:') == 1

-- Return each id's value in a ranking; false or nil where the ranking lacks the id.
local function ranked_in(ranking) return redis.call('EXISTS', ranking) == 1 and redis.call('ZMSCORE', ranking, unpack(ids)) or {} end
local views, stages, rings = ranked_in(prefix .. 'viewed:'), ranked_in(prefix .. 'next:score'), ranked_in(prefix .. 'rings:')
local merging = ranked_in(prefix .. 'merging:')
local removals, ranks = ranked_in(KEYS[1]), {}
for _, order in ipairs(ORDERS) do ranks[order] = order ~= 'hot' and ranked_in(prefix .. WHOLE[order]) or {} end

local function voter_sets(id) return prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, prefix .. 'leftout:' .. id end

local function check_poster(say, id, poster, name, time)
  if any_gone and is_left_named(prefix, poster, name) then
    say('its poster is a member whose account is deleted')
    if REPAIRS then
      redis.call('HSET', prefix .. 'article:' .. id, 'poster', '-1', 'poster_name', '')
      redis.call('ZREM', prefix .. 'posted:' .. poster, id)
    end
  elseif REPAIRS then note_posted(prefix, id, poster, time) end
end

local function check_votes(say, id, time, votes, opposes)
  local voted, oppose = voter_sets(id)
  local for_it, against = redis.call('SCARD', voted), redis.call('SCARD', oppose)
  if for_it ~= tonumber(votes) then say('votes ' .. votes .. ', voters ' .. for_it) end
  if against ~= tonumber(opposes) then say('opposes ' .. opposes .. ', opposers ' .. against) end
  if for_it + against > most then return true end
  examined = examined + for_it + against
  if against > 0 and #redis.call('SINTER', voted, oppose) > 0 then say('a user is in both voter sets') end
  for _, one in ipairs(CHOICES) do
    for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do
      check_listed(say, prefix, one, user, id, time)
    end
  end
end

-- Return those of a set that are not in another one, without members whose act is not complete.
local function surplus(set, other)
  local members = {}
  for _, user in ipairs(set) do
    local is_settled = not string.find(redis.call('HGET', prefix .. 'leftout:acts:', user) or '', 'open$')
    if is_settled and redis.call('SISMEMBER', other, user) == 0 then members[#members + 1] = user end
  end
  return members
end

-- Sets of members whose choices are left out are small; of an article that few have chosen on, so are the voter sets.
-- Return the article's field.
local function check_left_out(say, id, left_out)
  local out, sizes, found, before = prefix .. 'leftout:' .. id, {}, {}, #findings
  if not (left_out or any_left_out or redis.call('EXISTS', out) == 1) then return nil end
  for n, one in ipairs(CHOICES) do
    local voters = prefix .. one.set .. id
    sizes[n], found[n] = #redis.call('SINTER', out, voters), redis.call('SINTER', prefix .. 'leftout:', voters)
    for _, user in ipairs(surplus(found[n], out)) do
      say('the choice of ' .. user .. ' counts, but is to be left out of ranking')
    end
  end
  for _, user in ipairs(surplus(redis.call('SMEMBERS', out), prefix .. 'leftout:')) do
    say('the choice of ' .. user .. ' is left out of ranking, but is to count')
  end
  local votes, opposes = counts_left_out(left_out)
  if votes ~= sizes[1] or opposes ~= sizes[2] or redis.call('SCARD', out) ~= votes + opposes then
    say('left out of ranking ' .. (left_out or 'none') .. ', voters ' .. table.concat(sizes, ' '))
  end
  if not REPAIRS or #findings == before then return left_out end
  redis.call('DEL', out)
  for _, users in ipairs(found) do in_batches(users, function(...) redis.call('SADD', out, ...) end) end
  return note_left_out(prefix, id, #found[1], #found[2])
end

local function check_voter_sets(say, id, time, is_closed)
  for _, set in ipairs({voter_sets(id)}) do
    local left = redis.call('TTL', set)
    if left >= 0 then
      say('a voter set that expires')
      if REPAIRS then redis.call('PERSIST', set) end
    end
    if left ~= -2 and is_closed and voters_dropped and time < voters_dropped then
      say('a voter set that should have been dropped')
      if REPAIRS then
        count_brought(prefix, id, ARGV[2])
        redis.call('UNLINK', set)
      end
    end
  end
end

-- Return whether there are more votes of merged articles than one step may examine.
local function check_merges(say, id, merged, removed, field, number, is_listed)
  local brought, merges, last = prefix .. 'brought:' .. id, merges_in(field), 0
  for _, one in ipairs(merges) do last = math.max(last, one.number) end
  if merged and not removed then say('merged into ' .. merged .. ', but listed') end
  if #merges ~= #split(field) then say('lists what was merged into it in another form') end
  if (number or '') ~= (#merges > 0 and tostring(math.max(last, as_count(number) or 0)) or '') then
    say('the number of the last merge is ' .. (number or 'lost'))
  end
  if is_any_open(merges) ~= is_listed then say(is_listed and 'listed as being merged' or 'being merged, but not listed') end
  if REPAIRS then
    if merged and not removed then redis.call('HDEL', prefix .. 'article:' .. id, 'merged') end
    if last > (as_count(number) or 0) then redis.call('HSET', prefix .. 'article:' .. id, 'merge_number', last) end
    write_merges(prefix, id, merges, ARGV[2])
    if #merges == 0 then redis.call('UNLINK', brought) end
  end
  local entries = redis.call('ZRANGE', brought, 0, most, 'WITHSCORES')
  examined = examined + #entries
  check_brought(say, prefix, id, merges, entries)
  return #entries > 2 * most
end

local function check_window(say, time, closes)
  if not longest or milliseconds(closes) - milliseconds(time) <= milliseconds(longest) then return end
  say('open for longer than any article')
  if REPAIRS then note_window(prefix, time, closes, current) end
end

-- Repairing, the present replaces a lost time of the last view, which only decides when to archive; and an empty sketch
-- replaces a damaged one, which cannot distinguish visitors.
local function check_views(say, id, viewed, archived)
  local sketch = prefix .. 'hll:uv:' .. id
  local pv, is_counted = redis.call('GET', prefix .. 'counter:views:' .. id), redis.call('EXISTS', sketch) == 1
  if type(redis.pcall('PFCOUNT', sketch)) ~= 'number' then
    say('its visitors are damaged')
    if REPAIRS then
      redis.call('DEL', sketch)
      redis.call('PFADD', sketch)
    end
  end
  if (pv and true or false) ~= is_counted then
    say('page views ' .. (pv or 'none') .. ', but visitors ' .. (is_counted and 'counted' or 'not'))
  end
  if (pv and true or false) ~= (viewed and true or false) then
    say('page views and the time of the last one disagree')
    if not REPAIRS then return end
    if pv then redis.call('ZADD', prefix .. 'viewed:', ARGV[2], id) else redis.call('ZREM', prefix .. 'viewed:', id) end
  end
  if pv and archived then say('its counters are archived and here') end
end

local function check_staged(say, staged, time, points, removed)
  if staged and (removed or not next_seconds_per_point or tonumber(staged) ~= score(time, points, next_seconds_per_point)) then
    say('ranked ' .. staged .. ' by the weight that is being applied')
  end
  local passed = cursor == 'done' or time < (tonumber(cursor or '') or -math.huge)
  if next_seconds_per_point and passed and not staged and not removed then
    say('ranked nowhere by the weight that is being applied')
  end
end

local function check_rankings(say, n, wanted, removed)
  local is_listed = false
  for _, order in ipairs(ORDERS) do
    local found, value = tonumber(ranks[order][n] or ''), wanted[order]
    is_listed = is_listed or found ~= nil
    if not removed and found ~= value and not (found and value ~= value) then  -- NaN where the weight of a vote is lost
      local function shown(number) return order == 'points' and math.floor(number / ONE_POINT) or exactly(number) end
      say(order .. ' ' .. (value and shown(value) or 'none') .. ', ranked ' .. (found and shown(found) or 'nowhere'))
    end
  end
  if not removed and removals[n] then say('among the removed, but listed') end
  if removed and is_listed then say('removed, but listed') end
  if removed and tonumber(removals[n] or '') ~= wanted.time then say('not among the removed, or not by its time') end
end

-- Of many rings, the list holds the newest only.
local function check_ring(say, id, place, ring, removed)
  local first, _, _, last = ring_facts(ring)
  local wanted = first and not removed and last or nil
  if tonumber(place or '') == wanted then return end
  if wanted and not place and redis.call('ZCARD', prefix .. 'rings:') >= RINGS_KEPT then return end
  say('voting ring ' .. (wanted and exactly(wanted) or 'none') .. ', listed ' .. (place or 'nowhere'))
  if not REPAIRS then return end
  if wanted then list_ring(prefix, id, wanted) else redis.call('ZREM', prefix .. 'rings:', id) end
end

-- Put the article into its lists and groups, and into the hot list; the audit checks groups, spans and the hot list apart.
local function list(n, id, time, votes, opposes, left_out, groups, removed, last_comment, locked)
  if not next_seconds_per_point and stages[n] then redis.call('ZREM', prefix .. 'next:score', id) end
  if removed then
    unlist_article(prefix, id, split(groups))
    redis.call('ZADD', KEYS[1], time, id)
  else
    if removals[n] then redis.call('ZREM', KEYS[1], id) end
    listed[#listed + 1] = {n = n, id = id, time = time, votes = votes, opposes = opposes, left_out = left_out,
      groups = split(groups), last_comment = last_comment, locked = locked}
  end
end

local function check_text(say, id, bytes)
  local article = prefix .. 'article:' .. id
  local size = redis.call('HSTRLEN', article, 'text')  -- O(1)
  local is_html_alone = size == 0 and redis.call('HEXISTS', article, 'html') == 1
  if is_html_alone then say('has HTML, but no text') end
  if bytes ~= (size > 0 and exactly(size)) then say('its text has ' .. size .. ' bytes, noted ' .. (bytes or 'none'))
  elseif not is_html_alone then return end
  if not REPAIRS then return end
  if size > 0 then redis.call('HSET', article, 'text_bytes', size)
  else redis.call('HDEL', article, 'text', 'text_bytes', 'html') end
end

-- Numbers are separated by commas: a field this short holds no more of them than one step may examine. Missing ones are
-- the business of `upkeep/log`.
local function check_log(say, id, numbers)
  if not numbers then return false end
  if #numbers > most / 10 then return true end
  local all, right = split(numbers), {}
  for _, number in ipairs(all) do
    examined = examined + 10
    if is_about(prefix, number, id) then right[#right + 1] = number else say(misplaced_entry(number)) end
  end
  if REPAIRS and #right < #all then note_entries(prefix .. 'article:' .. id, right) end
end

local BASIC = {'title', 'link', 'poster', 'poster_name', 'groups', 'time', 'votes', 'opposes', 'closes'}
local FURTHER = {'log', 'text_bytes', 'comments', 'comment_ids', 'last_comment', 'locked', 'archived', 'removed', 'left_out',
  'ring', 'merged', 'merges', 'merge_number'}
local checked, subject = 0, nil
local function say(text) findings[#findings + 1], findings[#findings + 2] = subject, text end

for n, id in ipairs(ids) do
  local too_long, article = false, prefix .. 'article:' .. id
  subject = id
  local title, link, poster, name, groups, time, votes, opposes, closes = unpack(redis.call('HMGET', article, unpack(BASIC)))
  local is_basic = title and link and poster and name and groups and time and votes and opposes and closes
    and redis.call('HLEN', article) == #BASIC
  local numbers, text_bytes, comments, last_number, last_comment, locked, archived, removed, left_out, ring
  local merged, merges, last_merge
  if not is_basic then
    numbers, text_bytes, comments, last_number, last_comment, locked, archived, removed, left_out, ring, merged, merges,
      last_merge = unpack(redis.call('HMGET', article, unpack(FURTHER)))
  end
  local state = is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
    and (removed and 'removed' or 'listed') or redis.call('EXISTS', article) == 1 and 'damaged' or 'missing'
  facts[5 * n - 4], facts[5 * n - 3], facts[5 * n - 2] = groups, state, (comments or last_number or last_comment) and 1 or 0
  facts[5 * n - 1], facts[5 * n] = removed and merged or '', merges or ''
  if state == 'damaged' or state == 'missing' then
    say('no such article, or not a whole one')
    if REPAIRS and state == 'missing' then drop_article(prefix, id, {}) end
  else
    local posted_at, closes_at = tonumber(time), as_time(closes)
    if not closes_at then
      closes_at = closing_time(prefix, posted_at)
      say('does not say when voting ends')
      if REPAIRS then closes_at = fix_closing_time(prefix, id, posted_at, votes, opposes, now, tonumber(ARGV[4])) end
    end
    local is_closed = not is_open(now, closes_at)
    if not is_closed then left_out = check_left_out(say, id, left_out) end
    if ring or rings[n] then check_ring(say, id, rings[n], ring, removed) end
    if REPAIRS then list(n, id, posted_at, votes, opposes, left_out, groups, removed, last_comment, locked)
    else
      local by_score, points = values_by_votes(posted_at, votes, opposes, left_out, seconds_per_point or 0/0)
      local wanted = {time = posted_at, score = by_score, points = points}
      wanted.active = as_time(last_comment) and activity(as_time(last_comment), locked) or nil
      check_rankings(say, n, wanted, removed)
      if stages[n] or next_seconds_per_point then
        check_staged(say, stages[n], posted_at, ranked_points(votes, opposes, left_out), removed)
      end
    end
    if not is_basic then check_text(say, id, text_bytes) end
    check_poster(say, id, poster, name, time)
    too_long = check_log(say, id, numbers)
    if merged or merges or last_merge or merging[n]
      or with_sets[id] and redis.call('EXISTS', prefix .. 'brought:' .. id) == 1 then
      too_long = check_merges(say, id, merged, removed, merges, last_merge, merging[n] and true or false) or too_long
    end
    if not is_closed then
      too_long = check_votes(say, id, posted_at, votes, opposes) or too_long
      check_window(say, posted_at, closes_at)
    end
    if views[n] or with_sets[id] or not is_closed then  -- most old articles have none, and nothing to check
      check_voter_sets(say, id, posted_at, is_closed)
      check_views(say, id, views[n], archived)
    end
  end
  if too_long then long[#long + 1] = id end
  checked, examined = checked + 1, examined + each
  if examined > most then break end
end
if REPAIRS then
  local function place_of(order, one) return ranks[order][one.n] end
  list_articles(prefix, listed, current, tonumber(ARGV[5]), place_of)
  for at = 1, #findings, 2 do note_changed(prefix, findings[at]) end
end
return {checked, long, findings, facts}
