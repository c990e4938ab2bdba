--[[
Create a group, if there is none of this slug. A slug that was merged away may be taken anew.
Who chooses a title gets none that another group has; a group that only follows from its slug is made in any case.
KEYS  1 groups  2 merged
ARGV  1 slug  2 title  3 who, for the log; '' logs nothing  4 now, s  5 shard prefix
Returns  {"ok"} | {"exists"}
Cost  O(groups) when it is logged, else O(1)
]]
if ARGV[3] ~= '' and has_title(KEYS[1], ARGV[2]) then return {'exists'} end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return {'exists'} end
redis.call('HDEL', KEYS[2], ARGV[1])
if ARGV[3] ~= '' then log(ARGV[5], 'create-group', ARGV[4], ARGV[3], '0', ARGV[2], '', {slug = ARGV[1]}) end
return {'ok'}
