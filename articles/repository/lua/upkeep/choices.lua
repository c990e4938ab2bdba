--[[
Check a part of one member's lists against the articles, and against the voter sets of open ones. Repairing, remove what
contradicts them. Idempotent.
KEYS  1 votes of the member  2 opposes of the member  3 deleted members
ARGV  1 shard prefix  2 user id  3 now, s  4 entries already examined, newest first  5 entries of each list in this step
Returns  {length of the longer list, number of entries examined so far, {1 or 2 for the list, problem …}}
Cost  O(step · log N)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> rw, opposes:<user> rw, gone: r, ranking: r
]]
local prefix, user, done, step = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local now = moments(prefix, ARGV[3])
local findings, gone, longest, dropped = {}, redis.call('SISMEMBER', KEYS[3], user) == 1, 0, 0

for at, one in ipairs(CHOICES) do
  local ids = redis.call('ZREVRANGE', KEYS[at], done, done + step - 1)
  local function say(text) findings[#findings + 1], findings[#findings + 2] = at, text end
  if gone and done == 0 and #ids > 0 then
    say('of a member who is gone')
    if REPAIRS then redis.call('UNLINK', KEYS[at]) end
  end
  for _, id in ipairs(gone and REPAIRS and {} or ids) do
    local time, closes = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes'))
    local may_change = as_time(time) and is_open(now, closing_time(prefix, tonumber(time), closes))
    local missing = not time and redis.call('EXISTS', prefix .. 'article:' .. id) == 0
    local twice, wrong = not may_change and at == 1 and redis.call('ZSCORE', KEYS[2], id), nil
    if missing then
      wrong = at
      say('holds ' .. id .. ', but there is no such article')
    elseif may_change and redis.call('SISMEMBER', prefix .. one.set .. id, user) == 0 then
      wrong = at
      say('holds ' .. id .. ', but the member is not in ' .. one.set .. id)
    elseif twice then
      wrong = tonumber(twice) > tonumber(redis.call('ZSCORE', KEYS[1], id)) and 1 or 2
      say('holds ' .. id .. ', which the member also opposed')
    end
    if REPAIRS and wrong then dropped = dropped + redis.call('ZREM', KEYS[wrong], id) end
  end
  longest = math.max(longest, redis.call('ZCARD', KEYS[at]))
end
return {longest, math.max(0, done + step - dropped), findings}
