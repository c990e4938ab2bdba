--[[
Put some comments of one shard in their places among the best replies again, without the votes of members whose votes are
left out of ranking. Idempotent.
KEYS  1… comments
ARGV  1 shard prefix  2 now, s  3… their ids
Returns  {"ok"}
Cost  O(comments · log N)
TOUCHES  comment:<comment> rw, comment:voted:<comment> r, comment:oppose:<comment> r, replies:<order>:<comment> rw,
         leftout: r, ranking: r
INCLUDE  closing, comments, left_out
]]
local now = moments(ARGV[1], ARGV[2])
for n, comment in ipairs(KEYS) do
  local parent, time, closes, votes, opposes, left_out = unpack(redis.call('HMGET', comment, 'parent', 'time', 'closes',
    'votes', 'opposes', 'left_out'))
  if is_whole_comment(parent, time, closes, votes, opposes) then
    if is_open(now, tonumber(closes)) then left_out = leave_out_of_comment(ARGV[1], ARGV[n + 2], left_out) end
    rank_reply(ARGV[1], parent, ARGV[n + 2], time, votes, opposes, left_out)
  end
end
return {'ok'}
