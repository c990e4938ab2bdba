--[[
Find articles that have closed, by the shard's clock, and can have a ballot record, but have none as they are. All posted
before the first of them, and before the first that is open, are recorded: note that. Idempotent.
KEYS  1 parameters  2 time ranking  3 removed articles by time
ARGV  1 shard prefix  2 now, s  3 articles in this step  4… ids of articles to skip
Returns  {1 if more may be found once these have records, else 0, id, id …}
Cost  O(log N + step)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, time: r, removed: r, ranking: rw
]]
local prefix, step = ARGV[1], tonumber(ARGV[3])
local _, passed = moments(prefix, ARGV[2])
local recorded, dropped = unpack(redis.call('HMGET', KEYS[1], 'ballots_recorded', 'voters_dropped'))
local from, skipped = recorded or dropped or '-inf', {}
for n = 4, #ARGV do skipped[ARGV[n]] = true end

-- Both rankings stop at the first article that is open, in the order of posting: behind one with a longer window, others wait.
local ids, first_found, first_open, last_read = {}, passed, passed, passed
local function are_known(id, votes, opposes)
  return redis.call('SCARD', prefix .. 'voted:' .. id) == as_count(votes)
    and redis.call('SCARD', prefix .. 'oppose:' .. id) == as_count(opposes)
end
for n = 2, 3 do
  local entries, last = following(KEYS[n], from, step)
  if last ~= '' then last_read = math.min(last_read, tonumber(last)) end
  for at = 1, #entries, 2 do
    local id = entries[at]
    local time, closes, record, votes, opposes = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes', 'ballots',
      'votes', 'opposes'))
    time = as_time(time)
    if time and is_open(passed, closing_time(prefix, time, closes)) then
      first_open = math.min(first_open, tonumber(entries[at + 1]))
      break
    end
    local is_new = not record and are_known(id, votes, opposes)
    if time and (is_new or record == '0') and not skipped[id] then
      ids[#ids + 1], first_found = id, math.min(first_found, tonumber(entries[at + 1]))
    end
  end
end
local reached = math.min(first_found, first_open, last_read)
if reached > (tonumber(recorded or '') or -1) then redis.call('HSET', KEYS[1], 'ballots_recorded', exactly(reached)) end
return {(#ids > 0 or last_read < first_open) and 1 or 0, unpack(ids)}
