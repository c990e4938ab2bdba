--[[
Continue dropping the voter sets of articles that have been closed for longer than the grace, by the shard's clock.
Idempotent.
KEYS  1 parameters  2 time ranking  3 removed articles by time
ARGV  1 shard prefix  2 now, s  3 grace, s  4 articles in this step  5 "1" if ballot records are made
      first, or "0"
Returns  {number of sets dropped, 1 if more articles may have sets to drop, else 0}
Cost  O(log N + step)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, time: r, merging: rw,
         removed: r, ranking: rw
]]
local prefix, grace, step = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local _, passed = moments(prefix, ARGV[2])
local ended = passed - parameters(prefix).longest_window - grace
local from, recorded = unpack(redis.call('HMGET', KEYS[1], 'voters_dropped', 'ballots_recorded'))
if ARGV[5] == '1' then ended = math.min(ended, tonumber(recorded or '0')) end
if ended <= (tonumber(from or '') or 0) then return {0, 0} end

-- Posting time before which none is left. Both rankings continue from it, so that an article that is being removed or
-- restored is not missed.
local reached, dropped = ended, 0
for n = 2, 3 do
  local entries, last = following(KEYS[n], from or '-inf', step)
  for at = 1, #entries, 2 do
    if tonumber(entries[at + 1]) >= ended then break end
    count_brought(prefix, entries[at], ARGV[2])
    for _, one in ipairs(CHOICES) do dropped = dropped + redis.call('UNLINK', prefix .. one.set .. entries[at]) end
    redis.call('UNLINK', prefix .. 'leftout:' .. entries[at])
  end
  if last ~= '' then reached = math.min(reached, tonumber(last)) end
end
redis.call('HSET', KEYS[1], 'voters_dropped', exactly(reached))
return {dropped, reached < ended and 1 or 0}
