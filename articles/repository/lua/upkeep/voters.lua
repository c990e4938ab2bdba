--[[
Check some voters of an open article that has many. Repairing, add the article to the lists of those who lack it. Idempotent.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 now, s  3 shard prefix  4… user ids
Returns  {problem, …}
Cost  O(users · log N)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> rw, opposes:<user> rw, gone: r, ranking: r
INCLUDE  closing, members, values
]]
local id, prefix, findings = ARGV[1], ARGV[3], {}
local now = moments(prefix, ARGV[2])
local time, closes = unpack(redis.call('HMGET', KEYS[1], 'time', 'closes'))
if not as_time(time) or not is_open(now, closing_time(prefix, tonumber(time), closes)) then return findings end

for at = 4, #ARGV do
  local chosen = 0
  for n, one in ipairs(CHOICES) do
    if redis.call('SISMEMBER', KEYS[n + 1], ARGV[at]) == 1 then
      chosen = chosen + 1
      if not is_listed(prefix, one, ARGV[at], id) then
        findings[#findings + 1] = unlisted(one, ARGV[at])
        if REPAIRS then list_choice(prefix, one, ARGV[at], id, tonumber(time)) end
      end
    end
  end
  if chosen == 2 then findings[#findings + 1] = 'a user is in both voter sets' end
end
return findings
