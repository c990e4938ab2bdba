--[[
Check a part of a member's inbox. Reads only.
KEYS  1 inbox of the member
ARGV  1 user id  2 shard prefix  3 entries already examined  4 entries in this step
Returns  {length of the inbox, {problem, …}}
Cost  O(log N + step)
TOUCHES  article:<id> r, inbox:<user> r, gone: r
INCLUDE  inbox, members
]]
local prefix, length, findings = ARGV[2], redis.call('ZCARD', KEYS[1]), {}
if is_gone(prefix, ARGV[1]) then findings[1] = 'belongs to a deleted account' end
if length > NOTICES_KEPT then findings[#findings + 1] = 'holds ' .. length .. ' notices' end
for _, notice in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[3], ARGV[3] + ARGV[4] - 1)) do
  if not is_notice(prefix, notice) then findings[#findings + 1] = 'holds ' .. notice .. ', which is about no article' end
end
return {length, findings}
