--[[
Put some comments of one shard in their places among the best replies again. Idempotent.
KEYS  1… comments
ARGV  1 shard prefix  2… their ids
Returns  {"ok"}
Cost  O(comments · log N)
TOUCHES  comment:<comment> r, replies:best:<comment> rw, replies:time:<comment> rw
INCLUDE  comments
]]
for n, comment in ipairs(KEYS) do
  local parent, time, closes, votes, opposes = unpack(redis.call('HMGET', comment, 'parent', 'time', 'closes', 'votes',
    'opposes'))
  if is_whole_comment(parent, time, closes, votes, opposes) then
    rank_reply(ARGV[1], parent, ARGV[n + 1], time, votes, opposes)
  end
end
return {'ok'}
