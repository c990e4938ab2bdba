--[[
Take members out of a group whose article is gone, removed or not of this group, and drop the group's
rankings, which the next reader makes anew. Idempotent.
KEYS  1 group
ARGV  1 shard prefix  2 slug  3… ids of members
Returns  how many were taken out
Cost  O(ids)
]]
local prefix, slug = ARGV[1], ARGV[2]
local dropped = 0
for at = 3, #ARGV do
  local groups, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. ARGV[at], 'groups', 'removed'))
  local inside = groups and not removed and string.find(',' .. groups .. ',', ',' .. slug .. ',', 1, true)
  if not inside then dropped = dropped + redis.call('SREM', KEYS[1], ARGV[at]) end
end
for _, order in ipairs(ORDERS) do redis.call('UNLINK', prefix .. OF_GROUP[order] .. slug) end
return dropped
