--[[
Remove members from a group whose article is missing, removed or not of this group. Idempotent.
KEYS  1 group
ARGV  1 shard prefix  2 slug  3… ids of members
Returns  number of members removed
Cost  O(ids · log N)
TOUCHES  article:<id> r, group:<slug> rw, score:<slug> rw, time:<slug> rw, points:<slug> rw, active:<slug> rw,
         hot:score:<slug> rw
INCLUDE  lists
]]
local prefix, slug = ARGV[1], ARGV[2]
local dropped = 0
for at = 3, #ARGV do
  local id = ARGV[at]
  local groups, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'groups', 'removed'))
  if not (groups and not removed and string.find(',' .. groups .. ',', ',' .. slug .. ',', 1, true)) then
    dropped = dropped + redis.call('SREM', KEYS[1], id)
    leave_groups(prefix, id, {slug})
  end
end
return dropped
