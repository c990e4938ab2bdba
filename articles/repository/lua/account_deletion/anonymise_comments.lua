--[[
Give some comments of a member another name, or to a deleted member: those leave the list of the former one. Idempotent.
KEYS  1 comments of the member
ARGV  1 user id  2 user id from now on  3 name from now on  4 first comment, from 0  5 comments in this step  6 shard prefix
Returns  ids of the comments
Cost  O(step · log N)
TOUCHES  comment:<comment> rw, commented:<user> rw
INCLUDE  none
]]
local user, user_now, name, first, step, prefix = unpack(ARGV)
local ids = redis.call('ZRANGE', KEYS[1], first, first + step - 1)
for _, id in ipairs(ids) do
  local comment = prefix .. 'comment:' .. id
  if redis.call('HGET', comment, 'author') == user then
    redis.call('HSET', comment, 'author', user_now, 'author_name', name)
  end
  if user_now ~= user then redis.call('ZREM', KEYS[1], id) end
end
return ids
