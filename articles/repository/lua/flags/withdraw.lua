--[[
Withdraw some flags of a member whose account is deleted. Idempotent.
KEYS  1 what the member flagged
ARGV  1 user id  2 flags in this step  3 shard prefix
Returns  {number of flags withdrawn}
Cost  O(step · flags)
TOUCHES  article:<id> r, flags:<comment> rw, flagged: rw, flags:by:<user> rw
]]
local subjects = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
for _, subject in ipairs(subjects) do
  redis.call('HDEL', ARGV[3] .. 'flags:' .. subject, ARGV[1])
  redis.call('ZREM', KEYS[1], subject)
  queue_flagged(ARGV[3], subject, flags_of(ARGV[3], subject))
end
return {#subjects}
