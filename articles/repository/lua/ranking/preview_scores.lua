--[[
Score a part of a shard's articles by another weight of a vote, highest current score first, and return the articles
that rank highest by it. Reads only.
KEYS  1 ranking by score  2 time ranking
ARGV  1 shard prefix  2 the other weight, s  3 score to begin at, "+inf" at first  4 articles of that score already scored
      5 articles in this part  6 articles wanted  7 other score that as many articles are known to reach
Returns  {version, {id, score, id … by the other weight}, {id, score, id … the first by the current weight; in the
         first part only}, score to continue from, "" if no article left can be among the wanted,
         articles of that score already scored}
Cost  O(part + log N)
TOUCHES  score: r, time: r, ranking: r
]]
local ranking, times, prefix = KEYS[1], KEYS[2], ARGV[1]
local other, from, skip = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local part, wanted, known = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local weight = parameters(prefix).seconds_per_point
local best, first, found = {}, {}, {}

local function consider(id, value)
  local at = #best + 1
  while at > 1 and (value > best[at - 1][2] or value == best[at - 1][2] and id > best[at - 1][1]) do at = at - 1 end
  if at <= wanted then table.insert(best, at, {id, value}) end
  best[wanted + 1] = nil
end

local entries = redis.call('ZREVRANGEBYSCORE', ranking, from, '-inf', 'WITHSCORES', 'LIMIT', skip, part)
for begin = 1, #entries, 2 * VALUES_AT_ONCE do
  local ids = {}
  for at = begin, math.min(begin + 2 * VALUES_AT_ONCE - 1, #entries), 2 do ids[#ids + 1] = entries[at] end
  local posted = redis.call('ZMSCORE', times, unpack(ids))
  for n, id in ipairs(ids) do
    local value, time = tonumber(entries[begin + 2 * n - 1]), tonumber(posted[n] or '')
    local scored = time and score(time, math.floor((value - time) / weight + 0.5), other)
    if scored and scored >= known then consider(id, scored) end
  end
end
if from == '+inf' then first = {unpack(entries, 1, 2 * wanted)} end

local last, done = #entries == 2 * part and entries[#entries] or '', 0
for at = #entries, 2, -2 do
  if entries[at] ~= last then break end
  done = done + 1
end
if last == from then done = done + skip end
if last ~= '' then
  -- The other score is time + other / weight · (score - time). For a given score it is highest at one end of the times.
  local edge = redis.call(other <= weight and 'ZREVRANGE' or 'ZRANGE', times, 0, 0, 'WITHSCORES')[2] or last
  local highest = tonumber(edge) + other / weight * (tonumber(last) - tonumber(edge))
  if highest + 0.001 < math.max(known, #best == wanted and best[wanted][2] or known) then last = '' end
end
for _, entry in ipairs(best) do found[#found + 1], found[#found + 2] = entry[1], exactly(entry[2]) end
return {redis.call('HGET', prefix .. 'ranking:', 'version'), found, first, last, done}
