--[[
Put before every script: the few things more than one of them does.
A shard's prefix is empty or a hash tag; key names are built from it inside the same shard only.
]]
local ORDERS = {'score', 'time', 'hot', 'points'}
local WHOLE = {score = 'score:', time = 'time:', hot = 'hot:score', points = 'points:'}
local OF_GROUP = {score = 'score:', time = 'time:', hot = 'hot:score:', points = 'points:'}
local SPANS = {'day', 'week', 'month'}
local LATEST = 253402300800  -- the year 10000, which no calendar has
local MOST_VALUES = 500  -- of one command
local MOST_DROPPED = 100  -- entries that one article's place on the hot list may cost others

-- Give many values to a command, as many at once as it takes.
local function in_portions(values, command)
  for first = 1, #values, MOST_VALUES do command(unpack(values, first, math.min(first + MOST_VALUES - 1, #values))) end
end

-- A number as text that reads back as the same double (Lua's own tostring keeps 14 digits).
local function exactly(number)
  return string.format('%.17g', number)
end

local function split(list)
  local parts = {}
  for part in string.gmatch(list or '', '[^,]+') do parts[#parts + 1] = part end
  return parts
end

-- A number of an article's hash; nil where it is missing or none.
local function number(text)
  return text and #text < 20 and string.find(text, '^%-?%d+%.?%d*$') and tonumber(text) or nil
end

local function moment(text)
  local at = number(text)
  return at and at >= 0 and at < LATEST and at or nil
end

local function count(text)
  return text and #text < 16 and string.find(text, '^%d+$') and tonumber(text) or nil
end

-- Whether the fields that every article has are there, and numbers where numbers belong: the same rule as reading.py's
-- is_whole(). An article that is damaged is shown nowhere and takes no change.
local function is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
  local has_poster = poster and #poster < 17 and string.find(poster, '^%-?%d+$')
  local pv, uv = string.match(archived or '0 0', '^(%d+) (%d+)$')
  return title and link and has_poster and name and moment(time) and count(votes) and count(opposes) and groups
    and count(pv) and count(uv) and true or false
end

-- What ranks. To be read before the first write: a shard that has lost it takes no change, not half of one.
-- `next_per_point` is the weight of a vote that is being applied, if one is; `longest_window` the longest voting window
-- of any article of the shard, in seconds.
local function parameters(prefix)
  local names = {'seconds_per_point', 'alpha', 'beta', 'base', 'gamma', 'refreshed_at'}
  local values = redis.call('HMGET', prefix .. 'ranking:', 'next_seconds_per_point', 'longest_window', unpack(names))
  local found = {next_per_point = tonumber(values[1] or ''), longest_window = tonumber(values[2] or '') or math.huge}
  for n, name in ipairs(names) do
    found[name] = tonumber(values[n + 2] or '') or error('UNPREPARED there is no ' .. prefix .. 'ranking:')
  end
  return found
end

-- The same formula as ranking.py's score().
local function score(posted_at, points, per_point)
  return posted_at + per_point * points
end

-- The same formula as ranking.py's hotness(), for the moment the hot list was scored at.
local function hotness(pv, uv, posted_at, in_force)
  local hours = math.max(0, in_force.refreshed_at - posted_at) / 3600
  return (in_force.alpha * pv + in_force.beta * uv) / (hours + in_force.base) ^ in_force.gamma
end

-- Whole milliseconds, so that the end of a window is exact.
local function milliseconds(seconds)
  return math.floor(seconds * 1000 + 0.5)
end

-- When voting on an article ends: what its hash says, or, where it does not, by the window that the shard remembers for
-- such articles. Votes count up to and including that millisecond.
local function closing_time(prefix, posted_at, closes)
  return moment(closes) or posted_at + (tonumber(redis.call('HGET', prefix .. 'ranking:', 'voting_window') or '') or 0)
end

local function is_open(now, closes)
  return milliseconds(now) <= milliseconds(closes)
end

-- Remember the longest voting window of the shard's articles: no choice on an article that may be open is forgotten.
local function note_window(prefix, posted_at, closes, in_force)
  if milliseconds(closes) - milliseconds(posted_at) > milliseconds(in_force.longest_window) then
    redis.call('HSET', prefix .. 'ranking:', 'longest_window', string.format('%.3f', closes - posted_at))
  end
end

-- The voter sets outlive the voting by `grace`: until then they are what decides who has voted.
local function end_voter_set(key, closes, now, grace)
  redis.call('EXPIRE', key, math.max(math.ceil(closes + grace - now), grace))
end

-- Write into an article that lacks it when voting on it ends. Where the voters of votes that are counted are known no
-- more, their sets have expired, which was `grace` after the end: then it is not opened again.
local function fix_closing_time(prefix, id, posted_at, votes, opposes, now, grace)
  local closes = closing_time(prefix, posted_at)
  for key, count in pairs({[prefix .. 'voted:' .. id] = votes, [prefix .. 'oppose:' .. id] = opposes}) do
    local expired = tonumber(count) > 0 and redis.call('EXISTS', key) == 0
    if expired then closes = math.max(posted_at, math.min(closes, now - grace)) end
  end
  redis.call('HSET', prefix .. 'article:' .. id, 'closes', string.format('%.3f', closes))
  return closes
end

-- Place an article in one order, and in those of its groups' rankings that exist.
local function rank(prefix, order, id, value, groups)
  redis.call('ZADD', prefix .. WHOLE[order], exactly(value), id)
  for _, slug in ipairs(groups) do
    local ranking = prefix .. OF_GROUP[order] .. slug
    if redis.call('EXISTS', ranking) == 1 then redis.call('ZADD', ranking, exactly(value), id) end
  end
end

-- Also by the weight that is being applied: its ranking is to be whole when it takes the other's place.
local function rank_by_score(prefix, id, posted_at, points, groups, in_force)
  rank(prefix, 'score', id, score(posted_at, points, in_force.seconds_per_point), groups)
  if in_force.next_per_point then
    redis.call('ZADD', prefix .. 'next:score', exactly(score(posted_at, points, in_force.next_per_point)), id)
  end
end

-- Most points first, of equal ones the newest: the second of posting fills the lower 32 bits of the value, which is
-- exact below two million points.
local function by_points(posted_at, points)
  return points * 4294967296 + math.max(0, math.min(math.floor(posted_at), 4294967295))
end

-- Also in the rankings of what was posted lately, where they exist: `ranking:` says since when each is.
local function rank_by_points(prefix, id, posted_at, points, groups)
  local value = by_points(posted_at, points)
  rank(prefix, 'points', id, value, groups)
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

-- A part of a list of {id, value, id, value …}: the entries `first` to `last`, counted from 0.
local function slice(entries, first, last)
  local part = {}
  for at = 2 * first + 1, math.min(2 * last + 2, #entries) do part[#part + 1] = entries[at] end
  return part
end

-- Make a group's ranking for so many seconds. Returns the store's refusal where it takes no writes.
local function make_group(ranking, group, whole, life)
  local made = redis.pcall('ZINTERSTORE', ranking, 2, group, whole, 'WEIGHTS', 0, 1)
  if type(made) ~= 'number' then return made end
  redis.call('EXPIRE', ranking, life)
end

-- The same of the ranking of what was posted since a moment. What may fail is looked at before the first write.
local function make_top(prefix, span, since, life)
  local ranking, points = prefix .. 'top:' .. span, prefix .. WHOLE.points
  redis.call('ZCARD', points)
  redis.call('HGET', prefix .. 'ranking:', 'since_' .. span)
  local made = redis.pcall('ZRANGESTORE', ranking, prefix .. WHOLE.time, since, '+inf', 'BYSCORE')
  if type(made) ~= 'number' then return made end
  redis.call('ZINTERSTORE', ranking, 2, ranking, points, 'WEIGHTS', 0, 1)
  redis.call('EXPIRE', ranking, life)
  redis.call('HSET', prefix .. 'ranking:', 'since_' .. span, since)
end

-- All entries of a group's ranking, best first, without making it.
local function group_entries(group, whole)
  local all, entries = redis.call('ZINTER', 2, group, whole, 'WEIGHTS', 0, 1, 'WITHSCORES'), {}
  for at = #all, 1, -2 do entries[#entries + 1], entries[#entries + 2] = all[at - 1], all[at] end
  return entries
end

-- The same of what was posted since a moment.
local function top_entries(prefix, since)
  local ids, found, entries = redis.call('ZRANGEBYSCORE', prefix .. WHOLE.time, since, '+inf'), {}, {}
  for first = 1, #ids, 1000 do
    local values = redis.call('ZMSCORE', prefix .. WHOLE.points, unpack(ids, first, math.min(first + 999, #ids)))
    for n, value in ipairs(values) do
      if value then found[#found + 1] = {tonumber(value), ids[first + n - 1], value} end
    end
  end
  table.sort(found, function(a, b) return a[1] > b[1] or (a[1] == b[1] and a[2] > b[2]) end)
  for n, one in ipairs(found) do entries[2 * n - 1], entries[2 * n] = one[2], one[3] end
  return entries
end

-- The members of a group among these ids, as flags in their order.
local function members_among(group, ids)
  local flags = {}
  for n, inside in ipairs(redis.call('SMISMEMBER', group, unpack(ids))) do flags[n] = inside == 1 end
  return flags
end

-- What was posted since a moment among these ids, as flags in their order.
local function recent_among(prefix, since, ids)
  local flags = {}
  for n, time in ipairs(redis.call('ZMSCORE', prefix .. WHOLE.time, unpack(ids))) do
    flags[n] = time and tonumber(time) >= tonumber(since)
  end
  return flags
end

-- A list of {id, value, id, value …} as `open_ranking` returns a ranking.
local function held(entries)
  return function() return #entries / 2 end, function(first, last) return slice(entries, first, last) end
end

-- The same of a ranking that is there.
local function stored(ranking)
  return function() return redis.call('ZCARD', ranking) end, function(first, last)
    return redis.call('ZREVRANGE', ranking, first, last, 'WITHSCORES')
  end
end

-- The same of one that is not there: its entries are found on the way down the ranking of all articles, past at most
-- `walked` of those. `among` flags which of them belong to it. What lies deeper takes `make`.
local function walker(ranking, whole, size, among, walked, make)
  local found, at, ended, made, refused = {}, 0, false, nil, nil
  local count, read = stored(ranking)
  return function() return made and count() or ended and #found / 2 or size end, function(first, last)
    while not (ended or made or refused) and #found < 2 * math.min(last + 1, size) do
      if at >= walked then
        refused = make()
        made = not refused
      else
        local entries, ids = redis.call('ZREVRANGE', whole, at, at + 999, 'WITHSCORES'), {}
        for n = 1, #entries, 2 do ids[#ids + 1] = entries[n] end
        for n, belongs in ipairs(#ids > 0 and among(ids) or {}) do
          if belongs then found[#found + 1], found[#found + 2] = ids[n], entries[2 * n] end
        end
        at, ended = at + 1000, #ids == 0
      end
    end
    if made then return read(first, last) end
    return slice(found, first, last), #found < 2 * math.min(last + 1, size) and refused or nil
  end
end

-- Open a ranking for reading. Returns a function for how many entries it has, to be asked last, and one that returns
-- those from `first` to `last`, counted from 0, best first, as {id, value, id, value …}, and the store's refusal where
-- it takes no writes and they cannot be worked out cheaply without one. `one`: prefix, ranking; what it is made from
-- (group and whole, or span and since); life of what is made, s; how many articles are few; how many are walked past.
-- A group's ranking is kept for as long as it is read. Of few articles it is made, of more where a part lies deep.
local function open_ranking(one)
  local prefix, ranking, group, whole, size = one.prefix, one.ranking, one.group, one.whole, nil
  local make, among, entries
  if redis.call('EXISTS', ranking) == 1 then
    if group then redis.pcall('EXPIRE', ranking, one.life) end
  elseif group then
    size = whole ~= prefix .. WHOLE.hot and redis.call('SCARD', group) or 0
    make = function() return make_group(ranking, group, whole, one.life) end
    among = function(ids) return members_among(group, ids) end
    entries = function() return group_entries(group, whole) end
  elseif one.span then
    whole, size = prefix .. WHOLE.points, redis.call('ZCOUNT', prefix .. WHOLE.time, one.since, '+inf')
    make = function() return make_top(prefix, one.span, one.since, one.life) end
    among = function(ids) return recent_among(prefix, one.since, ids) end
    entries = function() return top_entries(prefix, one.since) end
  end
  if make and size > one.few then return walker(ranking, whole, size, among, one.walked, make) end
  if make and make() then return held(entries()) end
  return stored(ranking)
end

-- The entries that follow in a ranking by posting time, {id, time, id, time …}, and the time to go on from, '' at the
-- end. Posting times never change, so they say how far it is; of equal ones some are met twice.
local function following(ranking, from, step)
  while true do
    local entries = redis.call('ZRANGEBYSCORE', ranking, from, '+inf', 'WITHSCORES', 'LIMIT', 0, step)
    if #entries < 2 * step then return entries, '' end
    if entries[#entries] ~= from then return entries, entries[#entries] end
    step = 2 * step
  end
end

-- Whether a group has this title.
local function has_title(groups, title)
  for _, one in ipairs(redis.call('HVALS', groups)) do
    if one == title then return true end
  end
  return false
end

-- What is counted of an article's views: a damaged counter counts none, a damaged sketch knows no visitor. So neither
-- stops a script that has begun to write, nor a list because of one article.
local function as_page_views(count)
  return type(count) == 'string' and tonumber(string.match(count, '^%d+$') or '') or nil
end

local function page_views(prefix, id)
  return as_page_views(redis.pcall('GET', prefix .. 'counter:views:' .. id))
end

-- Of many articles at once, at the places of their ids; false where there are none.
local function all_page_views(prefix, ids)
  local names, found = {}, {}
  for n, id in ipairs(ids) do names[n] = prefix .. 'counter:views:' .. id end
  in_portions(names, function(...)
    for _, count in ipairs(redis.call('MGET', ...)) do found[#found + 1] = as_page_views(count) or false end
  end)
  return found
end

-- nil where the sketch is damaged.
local function sketched_visitors(prefix, id)
  local count = redis.pcall('PFCOUNT', prefix .. 'hll:uv:' .. id)
  return type(count) == 'number' and count or nil
end

local function unique_visitors(prefix, id)
  return sketched_visitors(prefix, id) or 0
end

local function join_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do redis.call('SADD', prefix .. 'group:' .. slug, id) end
end

local function leave_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do
    redis.call('SREM', prefix .. 'group:' .. slug, id)
    for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. OF_GROUP[order] .. slug, id) end
  end
end

-- A member's choices in this shard: the sets of an article's voters, and the lists of what a member chose. Both change
-- in one step, so while an article is open they say the same.
local CHOICES = {{choice = 'vote', set = 'voted:', list = 'votes:'}, {choice = 'oppose', set = 'oppose:', list = 'opposes:'}}
local CHOICES_KEPT = 1000

-- Not one of the placeholders that stand for unnamed voters.
local function is_member(user)
  return tonumber(user) < 1000000000 or tonumber(user) >= 2000000000
end

local function is_gone(prefix, user)
  return redis.call('SISMEMBER', prefix .. 'gone:', user) == 1
end

-- List an article among what its poster posted in this shard; imported ones may have no known poster.
local function note_posted(prefix, id, poster, time)
  if (tonumber(poster) or 0) > 0 and not is_gone(prefix, poster) then
    redis.call('ZADD', prefix .. 'posted:' .. poster, time, id)
  end
end

-- `at` in Unix seconds, as text. Of those from before `ended`, when no article was posted that is still open, only the
-- newest are kept.
local function note_choice(prefix, id, user, choice, at, ended)
  for _, one in ipairs(CHOICES) do
    local list = prefix .. one.list .. user
    if one.choice ~= choice then redis.call('ZREM', list, id)
    elseif redis.call('ZADD', list, 'NX', at, id) == 1 then
      local old = redis.call('ZCOUNT', list, '-inf', '(' .. exactly(ended))
      local surplus = math.min(old, redis.call('ZCARD', list) - CHOICES_KEPT)
      if surplus > 0 then redis.call('ZREMRANGEBYRANK', list, 0, surplus - 1) end
    end
  end
end

-- Whether a voter of an article is one whose lists need not, or do, hold the article.
local function is_listed(prefix, one, user, id)
  return not is_member(user) or redis.call('ZSCORE', prefix .. one.list .. user, id) or is_gone(prefix, user)
end

local function unlisted(one, user)
  return 'not in ' .. one.list .. user .. ', which is in ' .. one.set
end

-- When a member chose is lost with the list: the posting time stands for it.
local function list_choice(prefix, one, user, id, posted_at)
  if is_member(user) and not is_gone(prefix, user) then
    redis.call('ZADD', prefix .. one.list .. user, 'NX', exactly(posted_at), id)
  end
end

-- Take entries off the hot list, and off those of their groups.
local function drop_from_hot(prefix, ids)
  local groups = {}
  for n, id in ipairs(ids) do
    local found = redis.pcall('HGET', prefix .. 'article:' .. id, 'groups')
    groups[n] = type(found) == 'string' and split(found) or {}
  end
  for n, id in ipairs(ids) do
    redis.call('ZREM', prefix .. WHOLE.hot, id)
    for _, slug in ipairs(groups[n]) do redis.call('ZREM', prefix .. OF_GROUP.hot .. slug, id) end
  end
end

-- Put an article on the hot list, which keeps `keep` entries. One that has grown to double its size takes only what would
-- stay in it, and the coldest leave.
local function rank_hot(prefix, id, value, groups, keep)
  local list = prefix .. WHOLE.hot
  local too_many = redis.call('ZCARD', list) + 1 - 2 * keep
  if too_many > 0 and not redis.call('ZSCORE', list, id) then
    if value < tonumber(redis.call('ZREVRANGE', list, keep - 1, keep - 1, 'WITHSCORES')[2]) then return end
    drop_from_hot(prefix, redis.call('ZRANGE', list, 0, math.min(too_many, MOST_DROPPED) - 1))
  end
  rank(prefix, 'hot', id, value, groups)
end

-- Put an article into every list it belongs to: the hot list if it has been viewed, and, where it is said how many entries
-- that keeps, if it has a place there. What can fail is read before anything is written, so a script that may meet something
-- damaged lists the article before it writes anything else.
local function list_article(prefix, id, posted_at, points, groups, in_force, keep)
  local pv = page_views(prefix, id)
  local hot = pv and hotness(pv, unique_visitors(prefix, id), posted_at, in_force)
  join_groups(prefix, id, groups)
  rank_by_score(prefix, id, posted_at, points, groups, in_force)
  rank_by_points(prefix, id, posted_at, points, groups)
  rank(prefix, 'time', id, posted_at, groups)
  if hot then rank_hot(prefix, id, hot, groups, keep or math.huge) end
end

-- Take an article out of every list.
local function unlist_article(prefix, id, groups)
  leave_groups(prefix, id, groups)
  for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. WHOLE[order], id) end
  for _, span in ipairs(SPANS) do redis.call('ZREM', prefix .. 'top:' .. span, id) end
  redis.call('ZREM', prefix .. 'next:score', id)
end

-- Put an article under each of its words, given with spaces around them, and words a shard did not have into its lexicon.
local function enter_words(prefix, id, words)
  for word in string.gmatch(words or '', '[^ ]+') do
    local key = prefix .. 'word:' .. word
    if redis.call('SADD', key, id) == 1 and redis.call('SCARD', key) == 1 then
      redis.call('ZADD', prefix .. 'words:', 0, word)
    end
  end
end

-- The other way round: a word without articles leaves the lexicon.
local function leave_words(prefix, id, words)
  for word in string.gmatch(words or '', '[^ ]+') do
    local key = prefix .. 'word:' .. word
    if redis.call('SREM', key, id) == 1 and redis.call('EXISTS', key) == 0 then
      redis.call('ZREM', prefix .. 'words:', word)
    end
  end
end

-- Score a shard's hot list for the moment `at`, then cut it to its first `keep` entries: what is not an article with views
-- leaves it. Its groups' rankings are made anew by their next readers. Returns how many entries are left.
local function rescore_hot_list(prefix, at, keep)
  local in_force, list, placed, dropped, touched = parameters(prefix), prefix .. WHOLE.hot, {}, {}, {}
  in_force.refreshed_at = tonumber(at)
  local ids = redis.call('ZRANGE', list, 0, -1)
  local views = all_page_views(prefix, ids)
  for n, id in ipairs(ids) do
    local time, groups, removed = unpack(redis.pcall('HMGET', prefix .. 'article:' .. id, 'time', 'groups', 'removed'))
    time = moment(time)
    if time and views[n] and not removed then
      placed[#placed + 1] = exactly(hotness(views[n], unique_visitors(prefix, id), time, in_force))
      placed[#placed + 1] = id
    else dropped[#dropped + 1] = id end
    touched[groups or ''] = true
  end

  in_portions(placed, function(...) redis.call('ZADD', list, ...) end)
  in_portions(dropped, function(...) redis.call('ZREM', list, ...) end)
  for groups in pairs(touched) do
    for _, slug in ipairs(split(groups)) do redis.call('DEL', prefix .. OF_GROUP.hot .. slug) end
  end
  redis.call('ZREMRANGEBYRANK', list, 0, -keep - 1)
  redis.call('HSET', prefix .. 'ranking:', 'refreshed_at', at)
  return redis.call('ZCARD', list)
end

-- Note in the article's hash that an entry of the moderation log is about it. Entries are counted from the oldest.
local function note_logged(article, number)
  local noted = redis.call('HGET', article, 'log')
  redis.call('HSET', article, 'log', noted and noted .. ',' .. number or number)
end

-- Of the next `step` entries of the moderation log after the oldest `done` those that an article is about which is there
-- and does not note them, by article: {id, key of its hash, {numbers of the entries}}. And how many entries there were.
local function unnoted_entries(prefix, list, done, step)
  local entries, noted, found = redis.call('LRANGE', list, -done - step, -done - 1), {}, {}
  for n = #entries, 1, -1 do
    local id, number = tostring(cjson.decode(entries[n]).id), done + #entries - n + 1
    local article = prefix .. 'article:' .. id
    if noted[id] == nil then
      noted[id] = id ~= '0' and redis.call('EXISTS', article) == 1 and {missing = {}}
      for _, known in ipairs(noted[id] and split(redis.call('HGET', article, 'log')) or {}) do
        noted[id][tonumber(known) or 0] = true
      end
      if noted[id] then found[#found + 1] = {id, article, noted[id].missing} end
    end
    if noted[id] and not noted[id][number] then table.insert(noted[id].missing, number) end
  end
  return found, #entries
end

-- Append to the moderation log. `at` in Unix seconds, as text; `id` 0 for what is about no article.
local function log(prefix, action, at, actor, id, title, reason, details)
  local number = redis.call('LPUSH', prefix .. 'log:', cjson.encode({
    action = action, at = at, actor = actor, id = id, title = title, reason = reason, details = details,
  }))
  if tonumber(id) > 0 then note_logged(prefix .. 'article:' .. id, number) end
end

-- Whether that entry of the moderation log is about the article.
local function is_about(prefix, number, id)
  if not string.find(number, '^%d+$') or #number > 15 then return false end
  local text = redis.call('LINDEX', prefix .. 'log:', -tonumber(number))
  return text and tostring(cjson.decode(text).id) == id
end

local function misplaced_entry(number)
  return 'entry ' .. number .. ' of the log is not about it'
end
