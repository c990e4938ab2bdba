--[[
Continue to leave a member's choices on open comments out of their order, or to count them, as the shard has decided.
Comments keep no list of what a member chose, so all that are open are looked at. The end of the act also ends probation, unless
the act began it. Idempotent. A later act ends it.
KEYS  1 comments that have been voted on  2 acts of members
ARGV  1 shard prefix  2 user id  3 number of the act  4 now, s  5 closing time to continue from, s, or -inf
      6 comments in this step
Returns  {"ok", comments changed, closing time to continue from, '' at the end of the act}
Cost  O(step · log N), and for each comment that changes O(members left out)
TOUCHES  comment:<comment> rw, comment:voted:<comment> r, comment:oppose:<comment> r, comment:voters: r,
         replies:<order>:<comment> rw, leftout: r, leftout:acts: rw, probation: rw, ranking: r
]]
local acts, prefix, user, act = KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', acts, user) ~= act .. ' open' then return {'ok', 0, ''} end
local now, changed = moments(prefix, ARGV[4]), 0

local function settle(id)
  local parent, time, closes, votes, opposes, field = unpack(redis.call('HMGET', prefix .. 'comment:' .. id,
    'parent', 'time', 'closes', 'votes', 'opposes', 'left_out'))
  if not is_whole_comment(parent, time, closes, votes, opposes) or not is_open(now, tonumber(closes)) then return 0 end
  local left_out = leave_out_of_comment(prefix, id, field)
  if left_out == field then return 0 end
  rank_reply(prefix, parent, id, time, votes, opposes, left_out)
  return 1
end

local from = ARGV[5] == '-inf' and exactly(now) or ARGV[5]
local entries, following_from = following(KEYS[1], from, tonumber(ARGV[6]))
for at = 1, #entries, 2 do
  local id = entries[at]
  if redis.call('SISMEMBER', prefix .. 'comment:voted:' .. id, user) == 1
    or redis.call('SISMEMBER', prefix .. 'comment:oppose:' .. id, user) == 1 then changed = changed + settle(id) end
end
if following_from == '' then
  redis.call('HSET', acts, user, act .. ' done')
  if act ~= PROBATION_ACT then redis.call('SREM', prefix .. 'probation:', user) end
end
return {'ok', changed, following_from}
