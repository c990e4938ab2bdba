--[[
Continue to take back the votes that came with an article that is no longer merged; with the last of them, forget that it was,
and move the votes of those that still are again, because they may count now. Idempotent.
KEYS  1 article  2 votes that came with merged articles
ARGV  1 id  2 id of the other article  3 now, s  4 shard prefix  5 votes in this step
Returns  {"ok", votes that were taken back, 1 if some are left, else 0} | {"missing"}
Cost  O(step · log N)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, votes:<user> rw,
         opposes:<user> rw, <votes>: rw, top:<period> rw, merging: rw, <votes>:<slug> rw, next:score rw, changes: rw,
         ranking: rw
]]
local article, brought, id, other, prefix = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[4]
local time, votes, opposes, groups, removed, left_out, field =
  unpack(redis.call('HMGET', article, 'time', 'votes', 'opposes', 'groups', 'removed', 'left_out', 'merges'))
time, votes, opposes = as_time(time), as_count(votes), as_count(opposes)
if not (time and votes and opposes and groups) then return {'missing'} end
local merges, current = merges_in(field), parameters(prefix)
local merge, place = merge_of(merges, other)
if not merge then return {'ok', 0, 0} end

local before, rest = votes + opposes, 0
if merge.counts ~= '' then
  local counts, votes_out, opposes_out = {string.match(merge.counts, '^(%d+) (%d+) (%d+) (%d+)$')}, counts_left_out(left_out)
  votes, opposes = math.max(0, votes - (counts[1] or 0)), math.max(0, opposes - (counts[2] or 0))
  left_out = note_left_out(prefix, id, math.max(0, votes_out - (counts[3] or 0)), math.max(0, opposes_out - (counts[4] or 0)))
else
  for n, origin in ipairs({other, '-' .. other}) do
    for _, user in ipairs(redis.call('ZRANGEBYSCORE', brought, origin, origin, 'LIMIT', 0, ARGV[5])) do
      left_out = leave_out(prefix, id, user, choice_left_out(prefix, id, user), 'none', left_out)
      local change = redis.call('SREM', prefix .. CHOICES[n].set .. id, user)
      if n == 1 then votes = votes - change else opposes = opposes - change end
      redis.call('ZREM', prefix .. CHOICES[n].list .. user, id)
      redis.call('ZREM', brought, user)
    end
    rest = rest + redis.call('ZCOUNT', brought, origin, origin)
  end
end
redis.call('HSET', article, 'votes', votes, 'opposes', opposes)
votes_moved(prefix, id, time)
if not removed then rank_by_votes(prefix, id, time, votes, opposes, left_out, groups, current) end
if rest == 0 then
  table.remove(merges, place)
  for _, one in ipairs(merges) do one.state = 'open' end
  write_merges(prefix, id, merges, ARGV[3])
  if #merges == 0 then redis.call('UNLINK', brought) end
end
return {'ok', before - votes - opposes, rest > 0 and 1 or 0}
