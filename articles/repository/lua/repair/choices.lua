--[[
Remove from a part of one member's lists what contradicts the voter sets of open articles, or the articles. Idempotent.
KEYS  1 votes of the member  2 opposes of the member  3 deleted members
ARGV  1 shard prefix  2 user id  3 now, s  4 entries already examined, newest first  5 entries of each list in this step
Returns  {length of the longer list, number of entries examined so far}
Cost  O(step · log N)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> rw, opposes:<user> rw, gone: r, ranking: r
INCLUDE  closing, members, values
]]
local prefix, user, done, step = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local now = moments(prefix, ARGV[3])

if redis.call('SISMEMBER', KEYS[3], user) == 1 then
  redis.call('UNLINK', KEYS[1], KEYS[2])
  return {0, 0}
end
local longest, dropped = 0, 0
for at, one in ipairs(CHOICES) do
  for _, id in ipairs(redis.call('ZREVRANGE', KEYS[at], done, done + step - 1)) do
    local time, closes = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes'))
    local may_change = as_time(time) and is_open(now, closing_time(prefix, tonumber(time), closes))
    local missing = not time and redis.call('EXISTS', prefix .. 'article:' .. id) == 0
    local twice = not may_change and at == 1 and redis.call('ZSCORE', KEYS[2], id)
    local wrong
    if missing or may_change and redis.call('SISMEMBER', prefix .. one.set .. id, user) == 0 then
      wrong = at
    elseif twice then
      wrong = tonumber(twice) > tonumber(redis.call('ZSCORE', KEYS[1], id)) and 1 or 2
    end
    if wrong then
      redis.call('ZREM', KEYS[wrong], id)
      dropped = dropped + 1
    end
  end
  longest = math.max(longest, redis.call('ZCARD', KEYS[at]))
end
return {longest, math.max(0, done + step - dropped)}
