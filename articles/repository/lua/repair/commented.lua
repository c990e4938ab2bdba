--[[
Remove from a member's list of comments some of those that are not the member's. Idempotent.
KEYS  1 comments of the member
ARGV  1 user id  2 shard prefix  3… ids
Returns  {"ok"}
Cost  O(ids · log N)
TOUCHES  comment:<comment> r, commented:<user> rw
INCLUDE  none
]]
for at = 3, #ARGV do
  if redis.call('HGET', ARGV[2] .. 'comment:' .. ARGV[at], 'author') ~= ARGV[1] then redis.call('ZREM', KEYS[1], ARGV[at]) end
end
return {'ok'}
