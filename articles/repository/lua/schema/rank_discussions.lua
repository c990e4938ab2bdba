--[[
Continue noting the last comments of a store that had not noted them, and ranking its articles by them. Idempotent.
KEYS  1 time ranking, or the removed articles
ARGV  1 shard prefix  2 posting time to continue from, s, or -inf  3 articles in this step
Returns  {posting time to continue from, or '' once all are ranked}
Cost  O(step · log N), and O(1) for each comment that is not shown after the last one that is
TOUCHES  article:<id> rw, comment:<comment> r, time: r, active: rw, removed: r, active:<slug> rw
INCLUDE  comments, ranking
]]
local entries, last = following(KEYS[1], ARGV[2], tonumber(ARGV[3]))
for at = 1, #entries, 2 do
  if redis.call('HEXISTS', ARGV[1] .. 'article:' .. entries[at], 'comment_ids') == 1 then
    note_last_comment(ARGV[1], entries[at])
  end
end
return {last}
