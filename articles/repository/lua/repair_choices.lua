--[[
Take out of one member's lists what the voter sets of open articles, or the articles, do not say. Idempotent.
KEYS  1 votes of the member  2 opposes of the member  3 former members
ARGV  1 shard prefix  2 user id  3 now, s
Returns  {"ok"}
Cost  O(entries · log N)
]]
local prefix, user, now = ARGV[1], ARGV[2], tonumber(ARGV[3])

if redis.call('SISMEMBER', KEYS[3], user) == 1 then
  redis.call('UNLINK', KEYS[1], KEYS[2])
  return {'ok'}
end
for at, one in ipairs(CHOICES) do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[at], 0, -1)) do
    local time, closes = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes'))
    local may_change = time and is_open(now, closing_time(prefix, tonumber(time), closes))
    local twice = not may_change and at == 1 and redis.call('ZSCORE', KEYS[2], id)
    if not time or may_change and redis.call('SISMEMBER', prefix .. one.set .. id, user) == 0 then
      redis.call('ZREM', KEYS[at], id)
    elseif twice then
      local later = tonumber(twice) > tonumber(redis.call('ZSCORE', KEYS[1], id)) and 1 or 2
      redis.call('ZREM', KEYS[later], id)
    end
  end
end
return {'ok'}
