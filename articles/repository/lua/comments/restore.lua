--[[
Show a removed comment again, and log it; with a sweep, only if that sweep removed it.
KEYS  1 comment  2 article
ARGV  1 id  2 moderator  3 now, s  4 reason  5 shard prefix  6 sweep, or ''
Returns  {"ok"} | {"no_comment"} | {"comment_not_removed"} | {"missing"} if there is no such article
Cost  O(log N), and that of last_comments() for the last one
TOUCHES  article:<id> rw, comment:<comment> rw, replies:time:<comment> r, inbox:<user> rw, gone: r, active: rw,
         active:<slug> rw, changes: rw, log: rw
]]
local comment, article, prefix = KEYS[1], KEYS[2], ARGV[5]

local parent, time, closes, votes, opposes, hidden, sweep =
  unpack(redis.call('HMGET', comment, 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'sweep'))
if not is_whole_comment(parent, time, closes, votes, opposes) then return {'no_comment'} end
if not hidden or ARGV[6] ~= '' and sweep ~= ARGV[6] then return {'comment_not_removed'} end
local title, shown = unpack(redis.call('HMGET', article, 'title', 'comments'))
if not title then return {'missing'} end

redis.call('HSET', article, 'comments', (as_count(shown) or 0) + 1)
redis.call('HDEL', comment, 'removed', 'sweep')
note_changed(prefix, 'c' .. ARGV[1])
note_last_comment(prefix, article_of(ARGV[1]))
log_comment(prefix, 'restore-comment', ARGV[3], ARGV[2], article_of(ARGV[1]), ARGV[1], title, ARGV[4])
return {'ok'}
