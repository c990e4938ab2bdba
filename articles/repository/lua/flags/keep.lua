--[[
Keep what is flagged: decide the open flags that the moderator saw, and notify those who set them. Idempotent.
KEYS  1 flags
ARGV  1 id: the comment's, or the root of the article's comments  2 time up to which flags are decided, s  3 reason, may be ''
      4 shard prefix  5 now, s
Returns  {"ok", number of flags decided} | {"merged_away"}
Cost  O(flags · log N)
TOUCHES  article:<id> r, flags:<comment> rw, flagged: rw, flags:by:<user> rw, inbox:<user> rw, gone: r
]]
if is_merged(ARGV[4], ARGV[1]) then return removal(true) end
local decided = decide_flags(ARGV[4], ARGV[1], 'kept', tonumber(ARGV[2]))
if #decided > 0 then redis.call('HSET', KEYS[1], 'kept', ARGV[3]) end
for _, user in ipairs(decided) do notify(ARGV[4], user, 'flag-kept', ARGV[1], ARGV[5]) end
return {'ok', #decided}
