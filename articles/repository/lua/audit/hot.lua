--[[
Check some entries of a shard's hot list: each is a listed article with its hotness at the moment of the last rescoring.
Reads only.
KEYS  1 hot list
ARGV  1 shard prefix  2… ids
Returns  {id, problem, id, problem …}
Cost  O(ids)
TOUCHES  article:<id> r, hot:score r, counter:views:<id> r, hll:uv:<id> r, ranking: r
]]
local prefix, findings = ARGV[1], {}
local known, current = pcall(parameters, prefix)
if not known then return findings end  -- lost, which the audit of the shards reports
for at = 2, #ARGV do
  local id, value = ARGV[at], tonumber(redis.call('ZSCORE', KEYS[1], ARGV[at]) or '')
  local function say(text) findings[#findings + 1], findings[#findings + 2] = id, text end
  local time, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'removed'))
  local pv = page_views(prefix, id)
  if not value then  -- it has left the list since
  elseif not as_time(time) then say('hot, but no article')
  elseif removed then say('hot, but removed')
  elseif not pv then say('hot, but without views')
  else
    local wanted = hotness(pv, unique_visitors(prefix, id), tonumber(time), current)
    -- Another server's pow() may differ in the last bits.
    if math.abs(value - wanted) > 1e-9 * wanted then say('hotness ' .. exactly(wanted) .. ', ranked ' .. exactly(value)) end
  end
end
return findings
