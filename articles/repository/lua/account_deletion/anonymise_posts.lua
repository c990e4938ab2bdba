--[[
Give some articles or comments of a member another name, or to a deleted member: those leave the list of the former one.
Idempotent.
KEYS  1 articles that the member posted, or comments of the member
ARGV  1 user id  2 user id from now on  3 name from now on  4 first one, from 0  5 how many in this step  6 shard prefix
      7 1: comments, 0: articles
Returns  {articles or comments in this step, {ids of those that it changed}}
Cost  O(step · log N)
TOUCHES  article:<id> rw, comment:<comment> rw, posted:<user> rw, commented:<user> rw, changes: rw
]]
local user, user_now, name, first, step, prefix, are_comments = unpack(ARGV)
are_comments = are_comments == '1'
local by = are_comments and 'author' or 'poster'
local ids, changed = redis.call('ZRANGE', KEYS[1], first, first + step - 1), {}
for _, id in ipairs(ids) do
  local posted = are_comments and prefix .. 'comment:' .. id or prefix .. 'article:' .. id
  local author, former = unpack(redis.call('HMGET', posted, by, by .. '_name'))
  if author == user and (user_now ~= user or former ~= name) then
    redis.call('HSET', posted, by, user_now, by .. '_name', name)
    changed[#changed + 1] = id
    note_changed(prefix, are_comments and 'c' .. id or id)
  end
  if user_now ~= user then redis.call('ZREM', KEYS[1], id) end
end
return {#ids, changed}
