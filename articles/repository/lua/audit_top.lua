--[[
Check a shard's rankings of what was posted lately, where they exist. Reads only.
KEYS  1 ranking parameters
ARGV  1 shard prefix
Returns  {span, what is wrong, span, what is wrong …}
Cost  O(articles of the spans)
]]
local prefix, findings = ARGV[1], {}

local function say(span, text) findings[#findings + 1], findings[#findings + 2] = span, text end

local function check(span, ranking)
  if redis.call('TTL', ranking) == -1 then say(span, 'is a ranking without end') end
  local since = redis.call('HGET', KEYS[1], 'since_' .. span)
  if not since then return end  -- lost: the next change drops the ranking
  local wrong = 0
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. WHOLE.time, since, '+inf')) do
    local value = redis.call('ZSCORE', prefix .. WHOLE.points, id)
    if value and redis.call('ZSCORE', ranking, id) ~= value then wrong = wrong + 1 end
  end
  for _, id in ipairs(redis.call('ZRANGE', ranking, 0, -1)) do
    local time, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'removed'))
    if not time or removed or tonumber(time) < tonumber(since) then wrong = wrong + 1 end
  end
  if wrong > 0 then say(span, 'differs from the points of what was posted since then, by ' .. wrong) end
end

for _, span in ipairs(SPANS) do
  local ranking = prefix .. 'top:' .. span
  if redis.call('EXISTS', ranking) == 1 then check(span, ranking) end
end
return findings
