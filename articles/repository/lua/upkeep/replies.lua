--[[
Check a part of the lists of replies to one comment, or to an article. Repairing, remove what does not reply to it.
Idempotent.
KEYS  1 replies by lower bound  2 replies by time
ARGV  1 id that they reply to  2 shard prefix  3 entries already examined  4 entries in this step
Returns  {length of the longer list, number of entries examined so far, {problem, …}}
Cost  O(step · log N)
TOUCHES  comment:<comment> r, replies:<order>:<comment> rw
]]
local findings, longest, done = {}, 0, ARGV[3] + ARGV[4]
for _, list in ipairs(KEYS) do
  for _, id in ipairs(redis.call('ZRANGE', list, ARGV[3], ARGV[3] + ARGV[4] - 1)) do
    if redis.call('HGET', ARGV[2] .. 'comment:' .. id, 'parent') ~= ARGV[1] then
      findings[#findings + 1] = 'holds ' .. id .. ', which does not reply to it'
      if REPAIRS then done = done - redis.call('ZREM', list, id) end
    end
  end
  longest = math.max(longest, redis.call('ZCARD', list))
end
return {longest, math.max(0, done), findings}
