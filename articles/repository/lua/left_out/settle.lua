--[[
Continue to leave a member's choices on open articles out of ranking, or to count them, as the shard has decided; each
article at once with its ranks. Idempotent. A later act ends it.
KEYS  1 votes of the member, or opposes  2 acts of members
ARGV  1 shard prefix  2 user id  3 number of the act  4 now, s
      5 time of the choice to continue from, s, or -inf  6 choices in this step
Returns  {"ok", articles changed, time of the choice to continue from, '' at the end}
Cost  O(step · groups · log N)
TOUCHES  article:<id> rw, voted:<id> r, oppose:<id> r, leftout:<id> rw, votes:<user> r, opposes:<user> r, leftout: r,
         leftout:acts: r, <votes>: rw, top:<period> rw, <votes>:<slug> rw, next:score rw, changes: rw, ranking: r
]]
local list, acts, prefix, user, act = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', acts, user) ~= act .. ' open' then return {'ok', 0, ''} end
local current, now, is_out = parameters(prefix), moments(prefix, ARGV[4]), is_left_out(prefix, user)

-- A choice that the member changes meanwhile is settled by that vote.
local function settle(id)
  local time, closes, votes, opposes, groups, removed, field = unpack(redis.call('HMGET', prefix .. 'article:' .. id,
    'time', 'closes', 'votes', 'opposes', 'groups', 'removed', 'left_out'))
  if not (as_time(time) and as_count(votes) and as_count(opposes) and groups) then return 0 end
  time = tonumber(time)
  if not is_open(now, closing_time(prefix, time, closes)) then return 0 end
  local before, after = choice_left_out(prefix, id, user), is_out and choice_of(prefix, id, user) or 'none'
  if before == after then return 0 end
  field = leave_out(prefix, id, user, before, after, field)
  if not removed then rank_by_votes(prefix, id, time, votes, opposes, field, groups, current) end
  return 1
end

local changed, entries, from = 0, following(list, ARGV[5], tonumber(ARGV[6]))
for at = 1, #entries, 2 do changed = changed + settle(entries[at]) end
return {'ok', changed, from}
