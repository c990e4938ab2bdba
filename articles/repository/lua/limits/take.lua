--[[
Take uses of a limit, unless fewer are left.
KEYS  1 limit
ARGV  1 now, ms  2 time that refills the uses, ms  3 time that refills all, ms
Returns  {"ok"} | {"limited", time to wait, ms}
Cost  O(1)
TOUCHES  limit:<action>:<subject> rw
]]
local wait = take_use(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
if wait > 0 then return {'limited', wait} end
return {'ok'}
