--[[
Delete a comment with its text, its votes and its flags. While it has replies, a stub without author keeps its place.
The article notes who wrote it, for those whom it notified.
KEYS  1 comment  2 article  3 comments of the author
ARGV  1 id  2 author  3 shard prefix  4 now, s  5 members that the text mentions, as in comments/edit.lua
Returns  {"ok"} | {"no_comment"} | {"gone"} | {"not_author"}
Cost  O(log N) for the comment, and for each stub above it that loses its last reply; and that of
      last_comments() for the last one
TOUCHES  article:<id> rw, comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw,
         comment:voters: rw, replies:<order>:<comment> rw, flags:<comment> rw, flagged: rw, commented:<user> rw,
         flags:by:<user> rw, inbox:<user> rw, gone: r, active: rw, active:<slug> rw, changes: rw
]]
local DELETED_NOTED = 100  -- of an article's deleted comments, the last: see discussion/notices.py
local comment, article, id, prefix = KEYS[1], KEYS[2], ARGV[1], ARGV[3]

local author, parent, time, closes, votes, opposes, hidden, deleted = unpack(redis.call('HMGET', comment,
  'author', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted'))
if deleted or not is_whole_comment(parent, time, closes, votes, opposes) then return {'no_comment'} end
if is_gone(prefix, ARGV[2]) then return {'gone'} end
if author ~= ARGV[2] then return {'not_author'} end
local shown = as_count(redis.call('HGET', article, 'comments'))

if shown and not hidden then redis.call('HSET', article, 'comments', math.max(0, shown - 1)) end
local noted = split(redis.call('HGET', article, 'deleted'))
noted[#noted + 1] = table.concat({string.sub(id, -6), author, parent}, ':')
redis.call('HSET', article, 'deleted', table.concat(noted, ',', math.max(1, #noted - DELETED_NOTED + 1)))
redis.call('ZREM', KEYS[3], id)
note_changed(prefix, 'c' .. id)
drop_flags(prefix, id)
take_mentions_back(prefix, ARGV[5], id, tonumber(ARGV[4]))
if count_replies(prefix, id) == 0 then
  drop_comment(prefix, id)
else
  drop_comment_voters(prefix, id)
  redis.call('HDEL', comment, 'text', 'html', 'author', 'author_name', 'edited', 'removed', 'sweep', 'mentions',
    'left_out')
  redis.call('HSET', comment, 'deleted', 1, 'votes', 0, 'opposes', 0)
  rank_reply(prefix, parent, id, time, 0, 0)
end
if shown and not hidden then note_last_comment(prefix, article_of(id)) end
return {'ok'}
