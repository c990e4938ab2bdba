--[[
Read the best entries of a ranking that a reader has neither seen nor hidden. Makes the ranking if it does not exist.
KEYS  1 ranking  2 ranking parameters  3 time ranking  4 group; the ranking again for one of no group
      5 ranking of all articles from which a group's is made  6… hidden groups
ARGV  1 shard prefix  2 entries wanted  3 most entries to examine  4 only articles posted since, s, or ''
      5 span (day|week|month), or ''  6 where the span begins, s, or ''  7 life of a ranking that is made, s
      8 up to how many articles it is made at once  9 past how many articles of the ranking of all to walk before
      10 only entries that follow this value, or ''  11 and this id of that value  12… ids that the reader has seen
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}}
Cost  O(entries examined · hidden groups + log² N), plus the cost of `lists/read` if the ranking does not exist
TOUCHES  <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, ranking: rw
INCLUDE  temporary_rankings, values
]]
local want, most, since, value = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[10])
local count, part = open_ranking({
  prefix = ARGV[1], ranking = KEYS[1], group = KEYS[4] ~= KEYS[1] and KEYS[4], whole = KEYS[5], life = ARGV[7],
  span = ARGV[5] ~= '' and ARGV[5], since = ARGV[6], few = tonumber(ARGV[8]), walked = tonumber(ARGV[9]),
})

local seen = {}
for at = 12, #ARGV do seen[ARGV[at]] = true end

local function is_wanted(id)
  if seen[id] then return false end
  local time = since and redis.call('ZSCORE', KEYS[3], id)
  return not since or (time and tonumber(time) >= since)
end

-- Return the positions of the ids that are in a hidden group.
local function hidden_of(ids)
  local hidden = {}
  for n = 6, #ids > 0 and #KEYS or 0 do
    for at, inside in ipairs(redis.call('SMISMEMBER', KEYS[n], unpack(ids))) do
      if inside == 1 then hidden[at] = true end
    end
  end
  return hidden
end

local found, examined, refused, step = {}, 0, nil, math.min(VALUES_AT_ONCE, want + math.max(0, #ARGV - 11))

-- Return the number of entries that do not follow the position.
local function count_before()
  local low, high = 0, value and count() or 0
  while low < high and not refused do
    local middle, one = math.floor((low + high) / 2), nil
    one, refused = part(middle, middle)
    local at = tonumber(one[2] or '-inf')
    if at < value or (at == value and one[1] < ARGV[11]) then high = middle else low = middle + 1 end
  end
  return low
end

local first = count_before()
if refused then return refused end
while #found < 2 * want and examined < math.min(count() - first, most) do
  local ids, values, entries = {}, {}, nil
  entries, refused = part(first + examined, first + math.min(examined + step, most) - 1)
  for at = 1, #entries, 2 do
    if is_wanted(entries[at]) then ids[#ids + 1], values[#values + 1] = entries[at], entries[at + 1] end
  end
  local hidden = hidden_of(ids)
  for at, id in ipairs(ids) do
    if not hidden[at] and #found < 2 * want then found[#found + 1], found[#found + 2] = id, values[at] end
  end
  examined = refused and most or examined + step
end
if refused and #found < 2 * want then return refused end
return {count(), found, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at')}
