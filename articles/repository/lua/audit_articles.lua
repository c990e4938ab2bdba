--[[
Check the invariants of some articles of one shard. Reads only.
KEYS  1 time ranking  2 score ranking  3 removed  4 points ranking
ARGV  1 shard prefix  2 now, s  3… ids
Returns  {id, what is wrong, id, what is wrong …}
Cost  O(ids · log N)
]]
local prefix, now = ARGV[1], tonumber(ARGV[2])
-- nil where they are lost
local per_point, next_per_point, cursor, longest = unpack(redis.call('HMGET', prefix .. 'ranking:',
  'seconds_per_point', 'next_seconds_per_point', 'next_cursor', 'longest_window'))
per_point, next_per_point, longest = tonumber(per_point or ''), tonumber(next_per_point or ''), tonumber(longest or '')
local findings = {}

local function check_votes(say, id, votes, opposes)
  local voted, oppose = prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id
  local for_it, against = redis.call('SCARD', voted), redis.call('SCARD', oppose)
  if for_it ~= tonumber(votes) then say('votes ' .. votes .. ', voters ' .. for_it) end
  if against ~= tonumber(opposes) then say('opposes ' .. opposes .. ', opposers ' .. against) end
  if against > 0 and #redis.call('SINTER', voted, oppose) > 0 then say('a user is in both voter sets') end
end

local function check_choices(say, id)
  for _, one in ipairs(CHOICES) do
    for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do
      local listed = is_member(user) and redis.call('ZSCORE', prefix .. one.list .. user, id)
      if is_member(user) and not listed and not is_gone(prefix, user) then
        say('not in ' .. one.list .. user .. ', which is in ' .. one.set)
      end
    end
  end
end

local function check_ends(say, id, closes)
  for _, one in ipairs(CHOICES) do
    local left = redis.call('TTL', prefix .. one.set .. id)
    if left == -1 then say('a voter set without end')
    elseif left >= 0 and is_open(now + left, closes) then say('a voter set that ends before voting does') end
  end
end

local function check_window(say, time, closes)
  if longest and milliseconds(closes - time) > milliseconds(longest) then say('open for longer than any article') end
end

local function check_views(say, id, archived)
  local pv = redis.call('GET', prefix .. 'counter:views:' .. id)
  local sketch = redis.call('EXISTS', prefix .. 'hll:uv:' .. id) == 1
  local viewed = redis.call('ZSCORE', prefix .. 'viewed:', id)
  if (pv and true or false) ~= sketch then say('page views ' .. (pv or 'none') .. ', but visitors ' .. (sketch and 'counted' or 'not')) end
  if (pv and true or false) ~= (viewed and true or false) then say('page views and the time of the last one disagree') end
  if pv and archived then say('its counters are archived and here') end
end

local function check_staged(say, id, time, points, removed)
  local staged = redis.call('ZSCORE', prefix .. 'next:score', id)
  if staged and (removed or not next_per_point or tonumber(staged) ~= score(time, points, next_per_point)) then
    say('ranked ' .. staged .. ' by the weight that is being applied')
  end
  local passed = cursor == 'done' or time < (tonumber(cursor or '') or -math.huge)
  if next_per_point and passed and not staged and not removed then
    say('ranked nowhere by the weight that is being applied')
  end
end

local function check_lists(say, id, time, points, groups, removed)
  local by_time, by_score = redis.call('ZSCORE', KEYS[1], id), redis.call('ZSCORE', KEYS[2], id)
  local ranked = redis.call('ZSCORE', KEYS[4], id)
  if removed then
    if by_time or by_score or ranked then say('removed, but listed') end
    if tonumber(redis.call('ZSCORE', KEYS[3], id) or 'nan') ~= time then say('not among the removed, or not by its time') end
  else
    if tonumber(by_time or 'nan') ~= time then say('time ' .. exactly(time) .. ', ranked ' .. (by_time or 'nowhere')) end
    local wanted = per_point and score(time, points, per_point)
    if not by_score or wanted and tonumber(by_score) ~= wanted then
      say('score ' .. exactly(wanted or 0/0) .. ', ranked ' .. (by_score or 'nowhere'))
    end
    if tonumber(ranked or 'nan') ~= by_points(time, points) then
      say('points ' .. points .. ', ranked ' .. (ranked and math.floor(ranked / 4294967296) or 'nowhere'))
    end
    if redis.call('ZSCORE', KEYS[3], id) then say('among the removed, but listed') end
  end
  for _, slug in ipairs(split(groups)) do
    local inside = redis.call('SISMEMBER', prefix .. 'group:' .. slug, id) == 1
    if inside == (removed and true or false) then say(removed and 'removed, but in ' .. slug or 'not in ' .. slug) end
  end
end

local function check_words(say, id, words, removed)
  for word in string.gmatch(words or '', '[^ ]+') do
    local there = redis.call('SISMEMBER', prefix .. 'word:' .. word, id) == 1
    if there == (removed and true or false) then say((removed and 'removed, but under ' or 'not under ') .. word) end
  end
end

local function check_log(say, id, numbers)
  for _, number in ipairs(split(numbers)) do
    if not is_about(prefix, number, id) then say('entry ' .. number .. ' of the log is not about it') end
  end
end

for at = 3, #ARGV do
  local id = ARGV[at]
  local function say(text) findings[#findings + 1], findings[#findings + 2] = id, text end
  local title, link, poster, time, closes, votes, opposes, groups, removed, archived, words, numbers = unpack(redis.call('HMGET',
    prefix .. 'article:' .. id, 'title', 'link', 'poster', 'time', 'closes', 'votes', 'opposes', 'groups', 'removed',
    'archived', 'words', 'log'))
  if not (title and link and poster and time and votes and opposes and groups) then
    say('no such article, or not a whole one')
  else
    if not closes then say('does not say when voting ends') end
    closes = closing_time(prefix, tonumber(time), closes)
    if is_open(now, closes) then
      check_votes(say, id, votes, opposes)
      check_choices(say, id)
      check_window(say, tonumber(time), closes)
    end
    check_ends(say, id, closes)
    check_lists(say, id, tonumber(time), votes - opposes, groups, removed)
    check_views(say, id, archived)
    check_staged(say, id, tonumber(time), votes - opposes, removed)
    check_words(say, id, words, removed)
    check_log(say, id, numbers)
  end
end
return findings
