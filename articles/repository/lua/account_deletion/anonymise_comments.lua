--[[
Give some comments of a member another name, or to a deleted member: those leave the list of the former one. Idempotent.
KEYS  1 comments of the member
ARGV  1 user id  2 user id from now on  3 name from now on  4 first comment, from 0  5 comments in this step  6 shard prefix
Returns  {comments in this step, {ids of those that it changed}}
Cost  O(step · log N)
TOUCHES  comment:<comment> rw, commented:<user> rw, changes: rw
INCLUDE  changes
]]
local user, user_now, name, first, step, prefix = unpack(ARGV)
local ids, changed = redis.call('ZRANGE', KEYS[1], first, first + step - 1), {}
for _, id in ipairs(ids) do
  local comment = prefix .. 'comment:' .. id
  local author, former = unpack(redis.call('HMGET', comment, 'author', 'author_name'))
  if author == user and (user_now ~= user or former ~= name) then
    redis.call('HSET', comment, 'author', user_now, 'author_name', name)
    changed[#changed + 1] = id
    note_changed(prefix, 'c' .. id)
  end
  if user_now ~= user then redis.call('ZREM', KEYS[1], id) end
end
return {#ids, changed}
