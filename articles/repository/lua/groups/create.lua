--[[
Create a group unless its slug is taken. A moderator may reuse the slug of a merged group, but not the title of another
group. A group that is created by using its slug may have any title, but the slug of a merged group redirects.
KEYS  1 groups  2 merged
ARGV  1 slug  2 title  3 moderator, for the log; '' logs nothing  4 now, s  5 shard prefix
      6 "1" if the group is created by using its slug
Returns  {"ok"} | {"exists"} | {"merged", slug it redirects to}
Cost  O(groups) if it is logged, else O(1)
TOUCHES  log: rw, groups: rw, merged: rw
]]
if ARGV[3] ~= '' and has_title(KEYS[1], ARGV[2]) then return {'exists'} end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return {'exists'} end
local into = ARGV[6] == '1' and redis.call('HGET', KEYS[2], ARGV[1])
if into then return {'merged', into} end

redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('HDEL', KEYS[2], ARGV[1])
if ARGV[3] ~= '' then log(ARGV[5], 'create-group', ARGV[4], ARGV[3], '0', ARGV[2], '', {slug = ARGV[1]}) end
return {'ok'}
