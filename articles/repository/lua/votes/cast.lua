--[[
Set one member's choice on an article. Idempotent: the choice is a target state.
KEYS  1 article  2 new accounts of the network; only for a new account
ARGV  1 article id  2 user id  3 choice (vote|oppose|none)  4 now, s  5 grace, s  6 shard prefix
      7 time that refills one vote of the member's limit, ms  8 time that refills all, ms
      9 accounts of a voting ring  10 its period, s; both only with key 2
Returns  {"ok", votes, opposes, choice, accounts of the voting ring that this completes, else 0}
         | {"missing"} | {"removed"} | {"merged_away"} | {"closed"} | {"gone"} if the account is deleted | {"limited", time to wait, ms}
Cost  O(log N)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, votes:<user> rw,
         opposes:<user> rw, gone: r, leftout: r, <votes>: rw, top:<period> rw, <votes>:<slug> rw,
         ring:<id>:<network> rw, rings: rw, next:score rw, changes: rw, ranking: r, limit:votes:<user> rw
]]
local article = KEYS[1]
local id, user, choice, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[6]
local time, closes, votes, opposes, groups, removed, left_out, merged, merge_number = unpack(redis.call('HMGET', article,
  'time', 'closes', 'votes', 'opposes', 'groups', 'removed', 'left_out', 'merged', 'merge_number'))
time, votes, opposes = as_time(time), as_count(votes), as_count(opposes)
if not (time and votes and opposes and groups) then return {'missing'} end
if removed then return removal(merged) end
if is_gone(prefix, user) then return {'gone'} end
local current, longest_window, clock = weights(prefix)
local now, passed = moments_by(clock, ARGV[4])
if not is_open(now, closing_time(prefix, time, closes)) then return {'closed'} end
local is_out = is_left_out(prefix, user)
local before = (is_out or left_out) and choice_left_out(prefix, id, user) or 'none'
local after = is_out and choice or 'none'
local wait = take_use(prefix .. 'limit:votes:' .. user, milliseconds(now), tonumber(ARGV[7]), tonumber(ARGV[8]))
if wait > 0 then return {'limited', wait} end

local vote_change, oppose_change = set_choice(prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id, user, choice)
note_choice(prefix, id, user, choice, math.max(now, time), passed - longest_window - ARGV[5])
votes, opposes = votes + vote_change, opposes + oppose_change
if merge_number then choose_apart(prefix, id, user, choice, merge_number) end
local ring = 0
if vote_change ~= 0 or oppose_change ~= 0 or before ~= after then
  redis.call('HSET', article, 'votes', votes, 'opposes', opposes)
  left_out = leave_out(prefix, id, user, before, after, left_out)
  rank_by_votes(prefix, id, time, votes, opposes, left_out, groups, current)
  if KEYS[2] and choice ~= 'none' then ring = note_new_account(prefix, KEYS[2], id, user, now, ARGV[9], ARGV[10]) end
end
return {'ok', votes, opposes, choice, ring}
