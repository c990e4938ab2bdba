--[[
The rankings of a group, and of a span of time: made on demand, expired when they are no longer read. Where the store
refuses writes, their entries are worked out without storing anything. Reading a part of these and of any other ranking.
]]
-- Make a group's ranking, to live for `life` seconds. Return the store's refusal where it takes no writes.
local function make_group(ranking, group, whole, life)
  local made = redis.pcall('ZINTERSTORE', ranking, 2, group, whole, 'WEIGHTS', 0, 1)
  if type(made) ~= 'number' then return made end
  redis.call('EXPIRE', ranking, life)
end

-- The same for the articles posted since a moment. The first two commands fail if a key is damaged, before any write.
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

-- Return all entries of a group's ranking, {id, value, id, value …}, best first, without making it.
local function group_entries(group, whole)
  local all, entries = redis.call('ZINTER', 2, group, whole, 'WEIGHTS', 0, 1, 'WITHSCORES'), {}
  for at = #all, 1, -2 do entries[#entries + 1], entries[#entries + 2] = all[at - 1], all[at] end
  return entries
end

-- The same for the articles posted since a moment.
local function top_entries(prefix, since)
  local ids, found, entries = redis.call('ZRANGEBYSCORE', prefix .. WHOLE.time, since, '+inf'), {}, {}
  in_batches(ids, function(...)
    local batch = {...}
    for n, value in ipairs(redis.call('ZMSCORE', prefix .. WHOLE.points, ...)) do
      if value then found[#found + 1] = {tonumber(value), batch[n], value} end
    end
  end)
  table.sort(found, function(a, b) return a[1] > b[1] or (a[1] == b[1] and a[2] > b[2]) end)
  for n, one in ipairs(found) do entries[2 * n - 1], entries[2 * n] = one[2], one[3] end
  return entries
end

-- Return a flag for each id: whether it is in the group.
local function members_among(group, ids)
  local flags = {}
  for n, inside in ipairs(redis.call('SMISMEMBER', group, unpack(ids))) do flags[n] = inside == 1 end
  return flags
end

-- Return a flag for each id: whether it was posted since a moment.
local function recent_among(prefix, since, ids)
  local flags = {}
  for n, time in ipairs(redis.call('ZMSCORE', prefix .. WHOLE.time, unpack(ids))) do
    flags[n] = time and tonumber(time) >= tonumber(since)
  end
  return flags
end

-- Return the entries `first` to `last`, counted from 0, of a list {id, value, id, value …}.
local function slice(entries, first, last)
  local part = {}
  for at = 2 * first + 1, math.min(2 * last + 2, #entries) do part[#part + 1] = entries[at] end
  return part
end

-- Return a list {id, value, id, value …} in the form in which open_ranking() returns a ranking.
local function held(entries)
  return function() return #entries / 2 end, function(first, last) return slice(entries, first, last) end
end

-- The same for a ranking that exists.
local function stored(ranking)
  return function() return redis.call('ZCARD', ranking) end, function(first, last)
    return redis.call('ZREVRANGE', ranking, first, last, 'WITHSCORES')
  end
end

-- The same for a ranking that does not exist: walk down the ranking of all articles, past at most `walked` of them, and
-- keep those that `among` flags. A deeper part is read from the ranking that `make` makes.
local function walker(ranking, whole, size, among, walked, make)
  local found, at, ended, made, refused = {}, 0, false, nil, nil
  local count, read = stored(ranking)
  return function() return made and count() or ended and #found / 2 or size end, function(first, last)
    while not (ended or made or refused) and #found < 2 * math.min(last + 1, size) do
      if at >= walked then
        refused = make()
        made = not refused
      else
        local entries, ids = redis.call('ZREVRANGE', whole, at, at + VALUES_AT_ONCE - 1, 'WITHSCORES'), {}
        for n = 1, #entries, 2 do ids[#ids + 1] = entries[n] end
        for n, belongs in ipairs(#ids > 0 and among(ids) or {}) do
          if belongs then found[#found + 1], found[#found + 2] = ids[n], entries[2 * n] end
        end
        at, ended = at + VALUES_AT_ONCE, #ids == 0
      end
    end
    if made then return read(first, last) end
    return slice(found, first, last), #found < 2 * math.min(last + 1, size) and refused or nil
  end
end

-- Return the entries of a ranking that were posted since a moment, {id, value, id, value …}, best first.
local function entries_since(prefix, ranking, since)
  local found, count, read = {}, stored(ranking)
  for first = 0, count() - 1, VALUES_AT_ONCE do
    local entries, ids = read(first, first + VALUES_AT_ONCE - 1), {}
    for at = 1, #entries, 2 do ids[#ids + 1] = entries[at] end
    for n, is_recent in ipairs(recent_among(prefix, since, ids)) do
      if is_recent then found[#found + 1], found[#found + 2] = ids[n], entries[2 * n] end
    end
  end
  return found
end

-- Open a ranking for reading. Return two functions. The first returns the number of entries; call it last. The second
-- returns the entries `first` to `last`, counted from 0, best first, as {id, value, id, value …}; and the store's refusal
-- where it takes no writes and the entries cannot be worked out cheaply without one.
-- The header of lists/read says what the KEYS 1, 3 and 4, and the ARGV 1 and 4 to 8, of its callers are. Reading a group's
-- ranking renews its life.
local function open_ranking(keys, args)
  local prefix, ranking, group, whole, size = args[1], keys[1], keys[3] ~= keys[1] and keys[3], keys[4], nil
  local span, since, life, few, walked = args[4], args[5], args[6], tonumber(args[7]), tonumber(args[8])
  local make, among, entries
  if span == '' and since ~= '' then return held(entries_since(prefix, ranking, since)) end
  if redis.call('EXISTS', ranking) == 1 then
    if group then redis.pcall('EXPIRE', ranking, life) end
  elseif group then
    size = whole ~= prefix .. WHOLE.hot and math.min(redis.call('SCARD', group), redis.call('ZCARD', whole)) or 0
    make = function() return make_group(ranking, group, whole, life) end
    among = function(ids) return members_among(group, ids) end
    entries = function() return group_entries(group, whole) end
  elseif span ~= '' then
    whole, size = prefix .. WHOLE.points, redis.call('ZCOUNT', prefix .. WHOLE.time, since, '+inf')
    make = function() return make_top(prefix, span, since, life) end
    among = function(ids) return recent_among(prefix, since, ids) end
    entries = function() return top_entries(prefix, since) end
  end
  if make and size > few then return walker(ranking, whole, size, among, walked, make) end
  if make and make() then return held(entries()) end
  return stored(ranking)
end
