--[[
Continue to count votes on a merged article for the one into which it was merged: those of members who had chosen nothing
there, and have not taken a choice back there since. Nothing is counted where voters are no longer known, nor for
unnamed voters of imports, who cannot be told apart. Idempotent.
KEYS  1 article  2 voted  3 oppose  4 votes that came with merged articles
ARGV  1 id  2 id of the merged article  3 now, s  4 grace, s  5 shard prefix  6 "1" if no voters follow, or "0"
      7 choice of the voters (vote|oppose)  8… voters: user id, when, s
Returns  {"ok", votes that were added} | {"missing"}
Cost  O(voters · log N)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, votes:<user> rw,
         opposes:<user> rw, gone: r, leftout: r, <votes>: rw, top:<period> rw, merging: rw, <votes>:<slug> rw,
         next:score rw, changes: rw, ranking: rw
]]
local article, voted, oppose, brought = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, other, prefix, choice = ARGV[1], ARGV[2], ARGV[5], ARGV[7]
local time, votes, opposes, groups, removed, left_out, field =
  unpack(redis.call('HMGET', article, 'time', 'votes', 'opposes', 'groups', 'removed', 'left_out', 'merges'))
time, votes, opposes = as_time(time), as_count(votes), as_count(opposes)
if not (time and votes and opposes and groups) then return {'missing'} end
local merges, current = merges_in(field), parameters(prefix)
local merge = merge_of(merges, other)
if not merge or merge.state ~= 'open' then return {'ok', 0} end
local dropped = tonumber(redis.call('HGET', prefix .. 'ranking:', 'voters_dropped') or '') or 0
local is_known = merge.counts == '' and time >= dropped
  and redis.call('SCARD', voted) == votes and redis.call('SCARD', oppose) == opposes
local _, passed = moments(prefix, ARGV[3])

local fresh, times, origins, added = {}, {}, {}, 0
if is_known then fresh, times = voters_without_choice(prefix, id, merge.number, {unpack(ARGV, 8)}) end
for _, user in ipairs(fresh) do
  origins[#origins + 1], origins[#origins + 2] = choice == 'vote' and other or '-' .. other, user
end
if #fresh > 0 then
  added = redis.call('SADD', choice == 'vote' and voted or oppose, unpack(fresh))
  redis.call('ZADD', brought, unpack(origins))
  local gone = redis.call('SMISMEMBER', prefix .. 'gone:', unpack(fresh))
  local out = redis.call('SMISMEMBER', prefix .. 'leftout:', unpack(fresh))
  for n, user in ipairs(fresh) do
    local at = math.max(as_time(times[n]) or time, time)
    if gone[n] == 0 then note_choice(prefix, id, user, choice, at, passed - current.longest_window - ARGV[4]) end
    if out[n] == 1 then left_out = leave_out(prefix, id, user, 'none', choice, left_out) end
  end
  if choice == 'vote' then votes = votes + added else opposes = opposes + added end
  redis.call('HSET', article, 'votes', votes, 'opposes', opposes)
  votes_moved(prefix, id, time)
  if not removed then rank_by_votes(prefix, id, time, votes, opposes, left_out, groups, current) end
end
if ARGV[6] == '1' then
  merge.state = 'done'
  write_merges(prefix, id, merges, ARGV[3])
end
return {'ok', added}
