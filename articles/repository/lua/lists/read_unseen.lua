--[[
The best entries of a ranking that a reader has not been shown and does not hide. Makes a ranking that is not there.
KEYS  1 ranking  2 ranking parameters  3 time ranking  4 group; the ranking again where it is no group's
      5 ranking of all articles by which a group's is made  6… groups that are hidden
ARGV  1 shard prefix  2 entries wanted  3 most entries looked at  4 only what was posted since, s, or ''
      5 span (day|week|month), or ''  6 since when, s, or ''  7 life of a ranking that is made, s
      8 how many articles are few  9 most entries of the ranking of all articles that are walked past
      10… ids that were shown
Returns  {how many entries it has, {id, value, id, value …}, {version, refreshed at}}
Cost  O(entries looked at · hidden groups), and what `lists/read` costs where the ranking is not there
TOUCHES  score: r, time: r, points: r, top:<span> rw, group:<slug> r, score:<slug> rw, time:<slug> rw,
         points:<slug> rw, hot:score r, hot:score:<slug> rw, ranking: rw
INCLUDE  open_ranking, values
]]
local want, most, since = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local count, part = open_ranking({
  prefix = ARGV[1], ranking = KEYS[1], group = KEYS[4] ~= KEYS[1] and KEYS[4], whole = KEYS[5], life = ARGV[7],
  span = ARGV[5] ~= '' and ARGV[5], since = ARGV[6], few = tonumber(ARGV[8]), walked = tonumber(ARGV[9]),
})

local shown = {}
for at = 10, #ARGV do shown[ARGV[at]] = true end

local function is_new(id)
  if shown[id] then return false end
  local time = since and redis.call('ZSCORE', KEYS[3], id)
  return not since or (time and tonumber(time) >= since)
end

-- Which of these ids are in a hidden group, by their places.
local function hidden_of(ids)
  local hidden = {}
  for n = 6, #ids > 0 and #KEYS or 0 do
    for at, inside in ipairs(redis.call('SMISMEMBER', KEYS[n], unpack(ids))) do
      if inside == 1 then hidden[at] = true end
    end
  end
  return hidden
end

local found, looked, refused, step = {}, 0, nil, math.min(VALUES_AT_ONCE, want + math.max(0, #ARGV - 9))
while #found < 2 * want and looked < math.min(count(), most) do
  local ids, values, entries = {}, {}, nil
  entries, refused = part(looked, math.min(looked + step, most) - 1)
  for at = 1, #entries, 2 do
    if is_new(entries[at]) then ids[#ids + 1], values[#values + 1] = entries[at], entries[at + 1] end
  end
  local hidden = hidden_of(ids)
  for at, id in ipairs(ids) do
    if not hidden[at] and #found < 2 * want then found[#found + 1], found[#found + 2] = id, values[at] end
  end
  looked = refused and most or looked + step
end
if refused and #found < 2 * want then return refused end
return {count(), found, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at')}
