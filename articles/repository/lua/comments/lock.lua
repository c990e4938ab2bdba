--[[
Close the discussion of an article, or open it again, and log it.
KEYS  1 article
ARGV  1 id  2 moderator  3 now, s  4 reason  5 shard prefix  6 "lock" or "unlock"
Returns  {"ok"} | {"missing"} | {"merged_away"} | {"locked"} | {"not_locked"}
Cost  O(log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, active: rw, active:<slug> rw, changes: rw, log: rw
]]
local act = ARGV[6]
local title, locked, removed, groups, last_comment, merged =
  unpack(redis.call('HMGET', KEYS[1], 'title', 'locked', 'removed', 'groups', 'last_comment', 'merged'))
if not title then return {'missing'} end
if merged then return removal(merged) end
if act == 'lock' and locked then return {'locked'} end
if act == 'unlock' and not locked then return {'not_locked'} end

if act == 'lock' then redis.call('HSET', KEYS[1], 'locked', ARGV[4]) else redis.call('HDEL', KEYS[1], 'locked') end
if not removed then rank_active(ARGV[5], ARGV[1], as_time(last_comment), act == 'lock', split(groups)) end
note_changed(ARGV[5], ARGV[1])
log_article(ARGV[5], act, ARGV[3], ARGV[2], ARGV[1], title, ARGV[4], {})
return {'ok'}
