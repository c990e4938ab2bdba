--[[
Restore an article's archived view counters, so that counting continues from them. Page views and visitors are those
that the article shows. Visitors that the sketch lacks, because it is lost or older, are replaced by placeholders: only
their number continues. Idempotent: does nothing unless the article says that its counters are archived.
KEYS  1 times of the last views
ARGV  1 id  2 shard prefix  3 time of the last view, s  4 sketch of the visitors in hex, or ''  5 its page views
      6 its visitors  7… reason, number, reason, number … of the suspect views
Returns  {"ok"} | {"estimated"} if visitors were replaced by placeholders | {"here"} | {"missing"}
Cost  O(size of the sketch), or O(visitors)
TOUCHES  article:<id> rw, counter:views:<id> rw, hll:uv:<id> rw, counter:suspect:<id> rw, viewed: rw
]]
local article, views, visitors, suspects = ARGV[2] .. 'article:' .. ARGV[1], counters_of(ARGV[2], ARGV[1])
local archived, time = unpack(redis.call('HMGET', article, 'archived', 'time'))
if not archived then return {time and 'here' or 'missing'} end
local pv, uv = string.match(archived, '(%d+) (%d+)')
pv, uv = tonumber(pv), tonumber(uv)
local its_pv, its_uv = tonumber(ARGV[5]), tonumber(ARGV[6])
local sketch = string.gsub(ARGV[4], '%x%x', function(hex) return string.char(tonumber(hex, 16)) end)
local suspect = {}
for at = 7, #ARGV, 2 do
  suspect[ARGV[at]] = (tonumber(redis.call('HGET', suspects, ARGV[at]) or '') or 0) + tonumber(ARGV[at + 1])
end
redis.call('ZCARD', KEYS[1])  -- fails here if it is damaged, before the first write
local usable = sketch ~= '' and its_pv <= pv and its_uv <= uv  -- else the sketch is from another life of the article

if usable then redis.call('SET', visitors, sketch) else redis.call('DEL', visitors) end
local count = redis.pcall('PFCOUNT', visitors, visitors)  -- of two keys, because that examines the whole sketch
if type(count) ~= 'number' or count > 1.01 * uv then
  redis.call('DEL', visitors)  -- damaged
  usable, count = false, 0
end
local exact, n = usable and its_pv == pv and its_uv == uv and count >= 0.99 * uv, 0
while not exact and count < uv do
  local unknown = {}
  for at = 1, math.min(VALUES_AT_ONCE, math.max(1, math.floor(0.9 * (uv - count)))) do unknown[at] = 'archived ' .. n + at end
  n = n + #unknown
  redis.call('PFADD', visitors, unpack(unknown))
  count = redis.call('PFCOUNT', visitors)
end

redis.call('SET', views, pv)
for reason, number in pairs(usable and suspect or {}) do redis.call('HSET', suspects, reason, exactly(number)) end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('HDEL', article, 'archived')
return {exact and 'ok' or 'estimated'}
