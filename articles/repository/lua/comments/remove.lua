--[[
Remove a comment, decide its flags, notify those who set them, and log the removal. Its text, its votes and its place stay,
so it can be restored.
KEYS  1 comment  2 article
ARGV  1 id  2 moderator  3 now, s  4 reason  5 shard prefix  6 sweep, or ''
Returns  {"ok"} | {"no_comment"} | {"comment_removed"} | {"missing"} if there is no such article
Cost  O((flags + 1) · log N), and that of last_comments() for the last one
TOUCHES  article:<id> rw, comment:<comment> rw, replies:time:<comment> r, flags:<comment> rw, flagged: rw,
         flags:by:<user> rw, inbox:<user> rw, gone: r, active: rw, active:<slug> rw, changes: rw, log: rw
]]
local comment, article, prefix = KEYS[1], KEYS[2], ARGV[5]

local parent, time, closes, votes, opposes, hidden, deleted =
  unpack(redis.call('HMGET', comment, 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted'))
if deleted or not is_whole_comment(parent, time, closes, votes, opposes) then return {'no_comment'} end
if hidden then return {'comment_removed'} end
local title, shown = unpack(redis.call('HMGET', article, 'title', 'comments'))
if not title then return {'missing'} end

redis.call('HSET', comment, 'removed', ARGV[4], 'log', 1)
if ARGV[6] ~= '' then redis.call('HSET', comment, 'sweep', ARGV[6]) end
redis.call('HSET', article, 'comments', math.max(0, (as_count(shown) or 0) - 1))
note_changed(prefix, 'c' .. ARGV[1])
note_last_comment(prefix, article_of(ARGV[1]))
for _, user in ipairs(decide_flags(prefix, ARGV[1], 'removed', math.huge)) do
  notify(prefix, user, 'flag-removed', ARGV[1], ARGV[3])
end
log_comment(prefix, 'remove-comment', ARGV[3], ARGV[2], article_of(ARGV[1]), ARGV[1], title, ARGV[4])
return {'ok'}
