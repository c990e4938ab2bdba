--[[
The best entries of a ranking that a reader has not been shown and does not hide. Makes a ranking that is not there.
KEYS  1 ranking  2 ranking parameters  3 time ranking  4 group; the ranking again where it is no group's
      5 ranking of all articles by which a group's is made  6… groups that are hidden
ARGV  1 shard prefix  2 entries wanted  3 most entries looked at  4 only what was posted since, s, or ''
      5 span (day|week|month), or ''  6 since when, s, or ''  7 life of a ranking that is made, s
      8… ids that were shown
Returns  {how many entries it has, {id, value, id, value …}, {version, refreshed at}}
Cost  O(entries looked at · hidden groups); O(group · log group) where its ranking is made
]]
local ranking, prefix, life = KEYS[1], ARGV[1], ARGV[7]
local group = KEYS[4] ~= ranking and KEYS[4]
local want, most, since = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

-- What the ranking would hold, where the store takes no writes just now.
local function make()
  if ARGV[5] ~= '' then return make_top(prefix, ARGV[5], ARGV[6], life) end
  local made = redis.pcall('ZINTERSTORE', ranking, 2, group, KEYS[5], 'WEIGHTS', 0, 1)
  if type(made) == 'number' then
    redis.call('EXPIRE', ranking, life)
    return nil
  end
  local all, held = redis.call('ZINTER', 2, group, KEYS[5], 'WEIGHTS', 0, 1, 'WITHSCORES'), {}
  for at = #all, 1, -2 do held[#held + 1], held[#held + 2] = all[at - 1], all[at] end
  return held
end

local held
if redis.call('EXISTS', ranking) == 0 then
  if group or ARGV[5] ~= '' then held = make() end
elseif group then
  redis.pcall('EXPIRE', ranking, life)
end

local function part(first, last)
  if not held then return redis.call('ZREVRANGE', ranking, first, last, 'WITHSCORES') end
  local found = {}
  for at = 2 * first + 1, math.min(2 * last + 2, #held) do found[#found + 1] = held[at] end
  return found
end

local shown = {}
for at = 8, #ARGV do shown[ARGV[at]] = true end

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

local total = held and #held / 2 or redis.call('ZCARD', ranking)
local found, looked, step = {}, 0, math.min(1000, want + math.max(0, #ARGV - 7))
while #found < 2 * want and looked < math.min(total, most) do
  local entries, ids, values = part(looked, math.min(looked + step, most) - 1), {}, {}
  for at = 1, #entries, 2 do
    if is_new(entries[at]) then ids[#ids + 1], values[#values + 1] = entries[at], entries[at + 1] end
  end
  local hidden = hidden_of(ids)
  for at, id in ipairs(ids) do
    if not hidden[at] and #found < 2 * want then found[#found + 1], found[#found + 2] = id, values[at] end
  end
  looked = looked + step
end
return {total, found, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at')}
