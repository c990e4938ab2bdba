--[[
Change the text of a comment. Shortly after posting this leaves no mark. Idempotent.
KEYS  1 comment  2 article
ARGV  1 editor's user id  2 text  3 now, s  4 time without a mark, s  5 shard prefix
      6 members that the text mentions, comma-separated  7 HTML of the text, as it is kept
      8 members that only the text before mentions, each with when the inbox was read, s: `17:0,18:1700000000.5`
Returns  {"ok"} | {"no_comment"} | {"gone"} | {"not_author"} | {"comment_removed"} | {"removed"} | {"merged_away"} | {"locked"}
Cost  O(log N)
TOUCHES  article:<id> r, comment:<comment> rw, inbox:<user> rw, gone: r, changes: rw, ranking: r
]]
local comment, prefix, id = KEYS[1], ARGV[5], string.match(KEYS[1], '%d+$')

local text, author, parent, time, closes, votes, opposes, hidden, deleted = unpack(redis.call('HMGET', comment,
  'text', 'author', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted'))
if deleted or not is_whole_comment(parent, time, closes, votes, opposes) then return {'no_comment'} end
if is_gone(prefix, ARGV[1]) then return {'gone'} end
if author ~= ARGV[1] then return {'not_author'} end
if hidden then return {'comment_removed'} end
local removed, merged, locked = unpack(redis.call('HMGET', KEYS[2], 'removed', 'merged', 'locked'))
if removed then return removal(merged) end
if locked then return {'locked'} end
if text == ARGV[2] then return {'ok'} end

local passed = milliseconds((moments(prefix, ARGV[3]))) - milliseconds(tonumber(time))
redis.call('HSET', comment, 'text', ARGV[2], 'html', ARGV[7])
note_changed(prefix, 'c' .. id)
if passed > milliseconds(tonumber(ARGV[4])) then redis.call('HSET', comment, 'edited', ARGV[3]) end
note_mentions(prefix, comment, ARGV[6], ARGV[8], author, id, ARGV[3])
return {'ok'}
