--[[
Check some voters of an open article that has many. Repairing, add the article to the lists of those who lack it. Idempotent.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 now, s  3 shard prefix  4… user ids
Returns  {problem, …}
Cost  O(users · log N)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> rw, opposes:<user> rw, gone: r, ranking: r
]]
local id, prefix, findings = ARGV[1], ARGV[3], {}
local function say(text) findings[#findings + 1] = text end
local now = moments(prefix, ARGV[2])
local time, closes = unpack(redis.call('HMGET', KEYS[1], 'time', 'closes'))
local posted_at = as_time(time)
if not posted_at or not is_open(now, closing_time(prefix, posted_at, closes)) then return findings end

for at = 4, #ARGV do
  local chosen = 0
  for n, one in ipairs(CHOICES) do
    if redis.call('SISMEMBER', KEYS[n + 1], ARGV[at]) == 1 then
      chosen = chosen + 1
      check_listed(say, prefix, one, ARGV[at], id, posted_at)
    end
  end
  if chosen == 2 then say('a user is in both voter sets') end
end
return findings
