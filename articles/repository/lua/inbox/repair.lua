--[[
Remove from a member's inbox what is about no article, and the oldest notices above its limit; drop the inbox of a
deleted account. Idempotent.
KEYS  1 inbox of the member
ARGV  1 user id  2 shard prefix
Returns  {"ok"}
Cost  O(N · log N)
TOUCHES  article:<id> r, inbox:<user> rw, gone: r
INCLUDE  inbox, members
]]
if is_gone(ARGV[2], ARGV[1]) then
  redis.call('UNLINK', KEYS[1])
  return {'ok'}
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -NOTICES_KEPT - 1)
for _, notice in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if not is_notice(ARGV[2], notice) then redis.call('ZREM', KEYS[1], notice) end
end
return {'ok'}
