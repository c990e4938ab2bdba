--[[
Continue setting the closing times of the articles of a shard that lack one, by the window that the shard remembers.
Idempotent.
KEYS  1 time ranking, or removed articles by time
ARGV  1 shard prefix  2 posting time to continue from, s, or -inf  3 articles in this step  4 now, s  5 grace, s
Returns  {posting time to continue from, or '' once all have one}
Cost  O(log N + step)
TOUCHES  article:<id> rw, voted:<id> r, oppose:<id> r, time: r, removed: r, ranking: r
INCLUDE  closing, ranking, values
]]
local prefix, grace = ARGV[1], tonumber(ARGV[5])
local now = moments(prefix, ARGV[4])
local entries, last = following(KEYS[1], ARGV[2], tonumber(ARGV[3]))

for at = 1, #entries, 2 do
  local id = entries[at]
  local time, closes, votes, opposes =
    unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes', 'votes', 'opposes'))
  if as_time(time) and as_count(votes) and as_count(opposes) and not as_time(closes) then
    fix_closing_time(prefix, id, tonumber(time), votes, opposes, now, grace)
  end
end
return {last}
