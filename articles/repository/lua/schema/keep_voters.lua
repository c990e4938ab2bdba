--[[
Continue taking the expiry off the voter sets of an older store: they are dropped by the shard's clock (votes/drop_voters).
Idempotent.
KEYS  1 time ranking, or removed articles by time
ARGV  1 shard prefix  2 posting time to continue from, s, or -inf  3 articles in this step
Returns  {posting time to continue from, or '' once all are done}
Cost  O(log N + step)
TOUCHES  voted:<id> rw, oppose:<id> rw, time: r, removed: r
INCLUDE  members, ranking
]]
local entries, last = following(KEYS[1], ARGV[2], tonumber(ARGV[3]))
for at = 1, #entries, 2 do
  for _, one in ipairs(CHOICES) do redis.call('PERSIST', ARGV[1] .. one.set .. entries[at]) end
end
return {last}
