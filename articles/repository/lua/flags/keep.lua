--[[
Keep what is flagged: decide the open flags that the moderator saw. Idempotent.
KEYS  1 flags
ARGV  1 id: the comment's, or the root of the article's comments  2 time up to which flags are decided, s  3 reason, may be ''
      4 shard prefix
Returns  {"ok", number of flags decided}
Cost  O(flags + log N)
TOUCHES  flags:<comment> rw, flagged: rw, flags:by:<user> rw
INCLUDE  flags
]]
local decided = decide_flags(ARGV[4], ARGV[1], 'kept', tonumber(ARGV[2]))
if decided > 0 then redis.call('HSET', KEYS[1], 'kept', ARGV[3]) end
return {'ok', decided}
