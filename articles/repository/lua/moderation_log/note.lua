--[[
Log an action that is decided outside the store, such as a ban.
KEYS  1 log
ARGV  1 action  2 now, s  3 moderator  4 member  5 reason  6 shard prefix  7… details: name, value, name, value …
Returns  {"ok"}
Cost  O(1)
TOUCHES  log: rw
INCLUDE  moderation_log
]]
local details = {}
for n = 7, #ARGV, 2 do details[ARGV[n]] = ARGV[n + 1] end
log(ARGV[6], ARGV[1], ARGV[2], ARGV[3], '0', ARGV[4], ARGV[5], details)
return {'ok'}
