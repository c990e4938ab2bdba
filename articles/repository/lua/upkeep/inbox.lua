--[[
Check a part of a member's inbox. Repairing, remove what is about no article, and the oldest notices above its limit; drop
the inbox of a deleted account. Idempotent.
KEYS  1 inbox of the member
ARGV  1 user id  2 shard prefix  3 entries already examined  4 entries in this step
Returns  {length of the inbox, number of entries examined so far, {problem, …}}
Cost  O(log N + surplus + step)
TOUCHES  article:<id> r, inbox:<user> rw, gone: r
]]
local prefix, length, findings, done = ARGV[2], redis.call('ZCARD', KEYS[1]), {}, ARGV[3] + ARGV[4]
if is_gone(prefix, ARGV[1]) then
  findings[1] = 'belongs to a deleted account'
  if REPAIRS then redis.call('UNLINK', KEYS[1]) end
end
if length > NOTICES_KEPT then
  findings[#findings + 1] = 'holds ' .. length .. ' notices'
  if REPAIRS then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -NOTICES_KEPT - 1) end
end
for _, notice in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[3], ARGV[3] + ARGV[4] - 1)) do
  if not is_notice(prefix, notice) then
    findings[#findings + 1] = 'holds ' .. notice .. ', which is about no article'
    if REPAIRS then done = done - redis.call('ZREM', KEYS[1], notice) end
  end
end
return {redis.call('ZCARD', KEYS[1]), done, findings}
