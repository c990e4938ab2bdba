--[[
Remove a deleted member's name from some comments, and the comments from the member's list. Idempotent.
KEYS  1 comments of the member
ARGV  1 user id  2 comments in this step  3 shard prefix
Returns  ids of the comments
Cost  O(step · log N)
TOUCHES  comment:<comment> rw, commented:<user> rw
INCLUDE  none
]]
local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
for _, id in ipairs(ids) do
  local comment = ARGV[3] .. 'comment:' .. id
  if redis.call('HGET', comment, 'author') == ARGV[1] then redis.call('HSET', comment, 'author', '-1', 'author_name', '') end
  redis.call('ZREM', KEYS[1], id)
end
return ids
