--[[
Add an open article that has many voters to the lists of some of them. Idempotent.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 now, s  3 shard prefix  4… user ids
Returns  {"ok"}
Cost  O(users · log N)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> rw, opposes:<user> rw, gone: r, ranking: r
INCLUDE  closing, members, values
]]
local id, prefix = ARGV[1], ARGV[3]
local now = moments(prefix, ARGV[2])
local time, closes = unpack(redis.call('HMGET', KEYS[1], 'time', 'closes'))
if not as_time(time) or not is_open(now, closing_time(prefix, tonumber(time), closes)) then return {'ok'} end

for at = 4, #ARGV do
  for n, one in ipairs(CHOICES) do
    if redis.call('SISMEMBER', KEYS[n + 1], ARGV[at]) == 1 then list_choice(prefix, one, ARGV[at], id, tonumber(time)) end
  end
end
return {'ok'}
