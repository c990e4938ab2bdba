--[[
Check the invariants of some articles of one shard, as many as one step can. Reads only.
KEYS  1 time ranking  2 score ranking  3 removed  4 points ranking
ARGV  1 shard prefix  2 now, s  3 most voters and log entries to examine  4 ids, separated by commas, of those that have
      voter sets or counters, as far as the caller knows  5… ids
Returns  {number of articles checked, {ids of those with too many voters or log entries for one step},
         {id, problem, id, problem …}, {groups, state, comments that are shown, last number of a comment, time of the
         last comment of each article checked}}; the state is "listed" | "removed" | "damaged", also for a missing one.
         Other values are nil where the article lacks them
Cost  O(ids · log N + voters + entries), bounded by 3
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, leftout:<id> r, votes:<user> r, opposes:<user> r, gone: r,
         leftout: r, leftout:acts: r, score: r, time: r, points: r, active: r, removed: r, counter:views:<id> r,
         hll:uv:<id> r, viewed: r, next:score r, ranking: r, log: r
INCLUDE  articles, closing, formulas, members, moderation_log, values
]]
local prefix = ARGV[1]
local now = moments(prefix, ARGV[2])
-- nil where lost
local seconds_per_point, next_seconds_per_point, cursor, longest, voters_dropped = unpack(redis.call('HMGET',
  prefix .. 'ranking:', 'seconds_per_point', 'next_seconds_per_point', 'next_cursor', 'longest_window', 'voters_dropped'))
seconds_per_point, next_seconds_per_point = tonumber(seconds_per_point or ''), tonumber(next_seconds_per_point or '')
longest, voters_dropped = tonumber(longest or ''), tonumber(voters_dropped or '')
local findings, long, facts, most, examined = {}, {}, {}, tonumber(ARGV[3]), 0
local ids = {unpack(ARGV, 5, math.min(#ARGV, 5 + math.floor(most / 6)))}  -- each counts as six or more
local with_sets = {}
for _, id in ipairs(split(ARGV[4])) do with_sets[id] = true end
local any_gone = redis.call('EXISTS', prefix .. 'gone:') == 1
local any_left_out = redis.call('EXISTS', prefix .. 'leftout:') == 1

-- Return each id's value in a ranking; false where the ranking lacks the id.
local function ranked_in(ranking) return redis.call('ZMSCORE', ranking, unpack(ids)) end
local times, scores, removals, ranks = ranked_in(KEYS[1]), ranked_in(KEYS[2]), ranked_in(KEYS[3]), ranked_in(KEYS[4])
local views, stages = ranked_in(prefix .. 'viewed:'), ranked_in(prefix .. 'next:score')
local active = ranked_in(prefix .. 'active:')

local function check_votes(say, id, votes, opposes)
  local voted, oppose = prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id
  local for_it, against = redis.call('SCARD', voted), redis.call('SCARD', oppose)
  if for_it ~= tonumber(votes) then say('votes ' .. votes .. ', voters ' .. for_it) end
  if against ~= tonumber(opposes) then say('opposes ' .. opposes .. ', opposers ' .. against) end
  if for_it + against > most then return true end
  examined = examined + for_it + against
  if against > 0 and #redis.call('SINTER', voted, oppose) > 0 then say('a user is in both voter sets') end
  for _, one in ipairs(CHOICES) do
    for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do
      if not is_listed(prefix, one, user, id) then say(unlisted(one, user)) end
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
local function check_left_out(say, id, left_out)
  local out, sizes = prefix .. 'leftout:' .. id, {}
  if not (left_out or any_left_out or redis.call('EXISTS', out) == 1) then return end
  for n, one in ipairs(CHOICES) do
    local voters = prefix .. one.set .. id
    sizes[n] = #redis.call('SINTER', out, voters)
    for _, user in ipairs(surplus(redis.call('SINTER', prefix .. 'leftout:', voters), out)) do
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
end

local function check_voter_sets(say, id, time, is_closed)
  for _, set in ipairs({prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, prefix .. 'leftout:' .. id}) do
    local left = redis.call('TTL', set)
    if left >= 0 then say('a voter set that expires') end
    if left ~= -2 and is_closed and voters_dropped and time < voters_dropped then
      say('a voter set that should have been dropped')
    end
  end
end

local function check_window(say, time, closes)
  if longest and milliseconds(closes - time) > milliseconds(longest) then say('open for longer than any article') end
end

local function check_views(say, id, viewed, archived)
  local pv = redis.pcall('GET', prefix .. 'counter:views:' .. id)
  if type(pv) == 'table' then return say('its page views are damaged') end
  local sketch = redis.call('EXISTS', prefix .. 'hll:uv:' .. id) == 1
  if (pv and true or false) ~= sketch then
    say('page views ' .. (pv or 'none') .. ', but visitors ' .. (sketch and 'counted' or 'not'))
  end
  if (pv and true or false) ~= (viewed and true or false) then say('page views and the time of the last one disagree') end
  if not sketched_visitors(prefix, id) then say('its visitors are damaged') end
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

local function check_rankings(say, n, time, points, removed)
  local by_time, by_score, ranked = times[n], scores[n], ranks[n]
  if removed then
    if by_time or by_score or ranked then say('removed, but listed') end
    if tonumber(removals[n] or 'nan') ~= time then say('not among the removed, or not by its time') end
  else
    if tonumber(by_time or 'nan') ~= time then say('time ' .. exactly(time) .. ', ranked ' .. (by_time or 'nowhere')) end
    local wanted = seconds_per_point and score(time, points, seconds_per_point)
    if not by_score or wanted and tonumber(by_score) ~= wanted then
      say('score ' .. exactly(wanted or 0/0) .. ', ranked ' .. (by_score or 'nowhere'))
    end
    if tonumber(ranked or 'nan') ~= by_points(time, points) then
      say('points ' .. points .. ', ranked ' .. (ranked and math.floor(ranked / ONE_POINT) or 'nowhere'))
    end
    if removals[n] then say('among the removed, but listed') end
  end
end

local function check_activity(say, active_at, last_comment, locked, removed)
  local wanted = not removed and last_comment and activity(last_comment, locked) or nil
  if tonumber(active_at or '') ~= wanted then
    say('last comment ' .. (last_comment and exactly(last_comment) or 'none') .. ', active ' .. (active_at or 'nowhere'))
  end
end

local function check_text(say, id, bytes)
  local article = prefix .. 'article:' .. id
  local size = redis.call('HSTRLEN', article, 'text')  -- O(1)
  if size == 0 and redis.call('HEXISTS', article, 'html') == 1 then say('has HTML, but no text') end
  if bytes ~= (size > 0 and exactly(size)) then say('its text has ' .. size .. ' bytes, noted ' .. (bytes or 'none')) end
end

-- Numbers are separated by commas: a field this short holds no more of them than one step may examine.
local function check_log(say, id, numbers)
  if #(numbers or '') > most / 10 then return true end
  for _, number in ipairs(split(numbers)) do
    examined = examined + 10
    if not is_about(prefix, number, id) then say(misplaced_entry(number)) end
  end
end

local checked = 0
for n, id in ipairs(ids) do
  local too_long = false
  local function say(text) findings[#findings + 1], findings[#findings + 2] = id, text end
  local title, link, poster, name, closes, groups, archived, numbers, text_bytes, comments, last_number,
    time, votes, opposes, removed, last_comment, locked, left_out =
    unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'title', 'link', 'poster', 'poster_name', 'closes', 'groups',
      'archived', 'log', 'text_bytes', 'comments', 'comment_ids', 'time', 'votes', 'opposes', 'removed',
      'last_comment', 'locked', 'left_out'))
  local whole = is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
  local state = not whole and 'damaged' or removed and 'removed' or 'listed'
  for _, fact in ipairs({groups, state, comments, last_number, last_comment}) do facts[#facts + 1] = fact end
  if not whole then
    say('no such article, or not a whole one')
  else
    if not as_time(closes) then say('does not say when voting ends') end
    if any_gone and is_left_named(prefix, poster, name) then say('its poster is a member whose account is deleted') end
    time, closes = tonumber(time), closing_time(prefix, tonumber(time), closes)
    local points, is_closed = ranked_points(votes, opposes, left_out), not is_open(now, closes)
    if not is_closed then
      check_left_out(say, id, left_out)
      too_long = check_votes(say, id, votes, opposes)
      check_window(say, time, closes)
    end
    if views[n] or with_sets[id] or not is_closed then  -- most old articles have none, and nothing to check
      check_voter_sets(say, id, time, is_closed)
      check_views(say, id, views[n], archived)
    end
    check_rankings(say, n, time, points, removed)
    check_activity(say, active[n], as_time(last_comment), locked, removed)
    check_staged(say, stages[n], time, points, removed)
    check_text(say, id, text_bytes)
    too_long = check_log(say, id, numbers) or too_long
  end
  if too_long then long[#long + 1] = id end
  checked, examined = checked + 1, examined + 6
  if examined > most then break end
end
return {checked, long, findings, facts}
