--[[
The rankings of a group, and of a span of time: made on demand, expired when they are no longer read. Where the store
refuses writes, their entries are worked out without storing anything.
INCLUDE  values
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
