--[[
Check a part of a member's list of comments. Repairing, remove what is not the member's; `repair/comments` sets the times.
Idempotent.
KEYS  1 comments of the member
ARGV  1 user id  2 shard prefix  3 entries already examined  4 entries in this step
Returns  {length of the list, number of entries examined so far, {problem, …}}
Cost  O(step · log N)
TOUCHES  comment:<comment> r, commented:<user> rw
]]
local findings, entries = {}, redis.call('ZRANGE', KEYS[1], ARGV[3], ARGV[3] + ARGV[4] - 1, 'WITHSCORES')
local done = ARGV[3] + ARGV[4]
for at = 1, #entries, 2 do
  local id = entries[at]
  local author, time = unpack(redis.call('HMGET', ARGV[2] .. 'comment:' .. id, 'author', 'time'))
  if author ~= ARGV[1] then
    findings[#findings + 1] = 'holds ' .. id .. ', which is not the member\'s'
    if REPAIRS then done = done - redis.call('ZREM', KEYS[1], id) end
  elseif tonumber(time) ~= tonumber(entries[at + 1]) then findings[#findings + 1] = 'holds ' .. id .. ', not by its time' end
end
return {redis.call('ZCARD', KEYS[1]), done, findings}
