--[[
Leave a member's choices on articles out of ranking from now on, let them wait, or count them again, and log it. The first
shard numbers the acts of a member, odd ones leave out, even ones count; another shard follows it, unless it follows a later
act. The articles are settled afterwards. A member on probation waits by act 1: no other act lets a member wait.
Idempotent: repeating the current decision begins no act.
KEYS  1 members left out  2 their acts
ARGV  1 user id  2 "1" to leave out, "wait" until probation ends, "0" to count, '' to continue an act
      3 number of the act; '' in the first shard  4 shard prefix; in the first shard also  5 now, s
      6 moderator; '' to log nothing  7 member's name  8 reason
      9 "new" to decide only if there was no act before, "wait" only if the choices wait, '' in any case
Returns  {"ok", number of the act whose articles are not all settled in this shard, '' if there is none to settle,
         "1" if it leaves out, "wait" if the choices wait, "0" if it counts}
Cost  O(1)
TOUCHES  leftout: rw, leftout:acts: rw, probation: rw, log: rw
]]
local members, acts, user, wanted, given, prefix = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local number, state = string.match(redis.call('HGET', acts, user) or '', '^(%d+) (%l+)$')
number = tonumber(number or 0)
local current = '0'
if is_left_out(prefix, user) then current = waits(prefix, user, number) and 'wait' or '1' end

if given ~= '' and tonumber(given) < number then return {'ok', '', current} end
local only = ARGV[9] or ''
local is_due = only == '' or only == current or only == 'new' and number == 0
if given == '' and (wanted == '' or wanted == current or not is_due) or tonumber(given) == number then
  return {'ok', state == 'open' and tostring(number) or '', current}
end

local is_out = wanted ~= '0'
local step = number % 2 == (is_out and 1 or 0) and 2 or 1  -- 2 if choices that wait are left out, or `leftout:` contradicts
local act = given == '' and tostring(number + step) or given
redis.call('HSET', acts, user, act .. ' open')
redis.call(is_out and 'SADD' or 'SREM', members, user)
if wanted == 'wait' then redis.call('SADD', prefix .. 'probation:', user) end
if given == '' and ARGV[6] ~= '' then
  log(prefix, is_out and 'leave-out-votes' or 'count-votes', ARGV[5], ARGV[6], '0', ARGV[7], ARGV[8], {})
end
return {'ok', act, wanted}
