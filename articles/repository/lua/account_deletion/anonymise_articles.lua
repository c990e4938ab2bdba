--[[
Give some articles of a member another name, or to a deleted member: those leave the list of the former one. Idempotent.
KEYS  1 articles that the member posted
ARGV  1 user id  2 user id from now on  3 name from now on  4 first article, from 0  5 articles in this step  6 shard prefix
Returns  {articles in this step, {ids of those that it changed}}
Cost  O(step · log N)
TOUCHES  article:<id> rw, posted:<user> rw, changes: rw
INCLUDE  changes
]]
local user, user_now, name, first, step, prefix = unpack(ARGV)
local ids, changed = redis.call('ZRANGE', KEYS[1], first, first + step - 1), {}
for _, id in ipairs(ids) do
  local article = prefix .. 'article:' .. id
  local poster, former = unpack(redis.call('HMGET', article, 'poster', 'poster_name'))
  if poster == user and (user_now ~= user or former ~= name) then
    redis.call('HSET', article, 'poster', user_now, 'poster_name', name)
    changed[#changed + 1] = id
    note_changed(prefix, id)
  end
  if user_now ~= user then redis.call('ZREM', KEYS[1], id) end
end
return {#ids, changed}
