--[[
Continue the ranking by points of a store that had none. Idempotent.
KEYS  1 time ranking
ARGV  1 shard prefix  2 posting time to continue from, s, or -inf  3 articles in this step
Returns  {posting time to continue from, or '' once all are ranked}
Cost  O(step · log N)
TOUCHES  article:<id> r, time: r, points: rw, top:<period> rw, points:<slug> rw, ranking: r
INCLUDE  formulas, ranking, values
]]
local prefix = ARGV[1]
local entries, last = following(KEYS[1], ARGV[2], tonumber(ARGV[3]))

for at = 1, #entries, 2 do
  local id = entries[at]
  local votes, opposes, left_out, groups =
    unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'votes', 'opposes', 'left_out', 'groups'))
  if as_count(votes) and as_count(opposes) then
    rank_by_points(prefix, id, tonumber(entries[at + 1]), ranked_points(votes, opposes, left_out), split(groups))
  end
end
return {last}
