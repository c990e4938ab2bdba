--[[
Check some articles' positions in a shard's ranking of a span, if it exists. Reads only.
KEYS  1 ranking parameters  2 the ranking  3 time ranking  4 points ranking
ARGV  1 shard prefix  2 span (day|week|month)  3… ids
Returns  {where the span begins, s, or '' without a ranking, number of wrong positions, 1 if it never expires}
Cost  O(ids)
TOUCHES  article:<id> r, time: r, points: r, top:<period> r, ranking: r
]]
local prefix, ranking = ARGV[1], KEYS[2]
local since = redis.call('HGET', KEYS[1], 'since_' .. ARGV[2])
if redis.call('EXISTS', ranking) == 0 then return {'', 0, 0} end
local endless = redis.call('TTL', ranking) == -1 and 1 or 0
if not tonumber(since or '') then return {'', 0, endless} end  -- lost: the next change deletes the ranking

local wrong = 0
for at = 3, #ARGV do
  local id = ARGV[at]
  local value, entry = redis.call('ZSCORE', KEYS[4], id), redis.call('ZSCORE', ranking, id)
  local by_time = tonumber(redis.call('ZSCORE', KEYS[3], id) or '')
  local time, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'removed'))
  local belongs = as_time(time) and not removed and tonumber(time) >= tonumber(since)
  if entry and not belongs then wrong = wrong + 1 end
  if value and by_time and by_time >= tonumber(since) and entry ~= value then wrong = wrong + 1 end
end
return {since, wrong, endless}
