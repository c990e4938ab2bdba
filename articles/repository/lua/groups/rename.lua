--[[
Give a group another title. Its slug, and so its address, stays.
KEYS  1 groups
ARGV  1 slug  2 title  3 moderator  4 now, s  5 reason  6 shard prefix
Returns  {"ok"} | {"no_group"} | {"taken"} if another group has the title
Cost  O(groups)
TOUCHES  log: rw, groups: rw
]]
local old = redis.call('HGET', KEYS[1], ARGV[1])
if not old then return {'no_group'} end
if old == ARGV[2] then return {'ok'} end
if has_title(KEYS[1], ARGV[2]) then return {'taken'} end

redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
log(ARGV[6], 'rename-group', ARGV[4], ARGV[3], '0', ARGV[2], ARGV[5], {slug = ARGV[1], old_title = old})
return {'ok'}
