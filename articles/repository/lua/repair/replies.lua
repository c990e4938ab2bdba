--[[
Remove from the lists of replies to a comment, or to an article, some of those that do not reply to it. Idempotent.
KEYS  1 replies by lower bound  2 replies by time
ARGV  1 id that they reply to  2 shard prefix  3… ids
Returns  {"ok"}
Cost  O(ids · log N)
TOUCHES  comment:<comment> r, replies:best:<comment> rw, replies:time:<comment> rw
INCLUDE  none
]]
for at = 3, #ARGV do
  if redis.call('HGET', ARGV[2] .. 'comment:' .. ARGV[at], 'parent') ~= ARGV[1] then
    redis.call('ZREM', KEYS[1], ARGV[at])
    redis.call('ZREM', KEYS[2], ARGV[at])
  end
end
return {'ok'}
