--[[
Publish a comment. Idempotent: the same text, sent again within some minutes, returns the first comment.
KEYS  1 article  2 the comment posted last with this text in this place
ARGV  1 article id  2 parent: a comment, or the article's root  3 author  4 author's name  5 text  6 now, s
      7 when voting on it ends, s  8 life of key 2, s  9 shard prefix
      10 members that the text mentions, comma-separated  11 members who want no notice of it
      12 HTML of the text, as it is kept
Returns  {"ok", id} | {"missing"} | {"removed"} | {"merged_away"} | {"gone"} if the author's account is deleted | {"locked"}
         | {"thread_full"} | {"no_comment"} | {"comment_removed"}; the last two are about the parent
Cost  O(log N)
TOUCHES  article:<id> rw, comment:<comment> rw, replies:<order>:<comment> rw, comment:sent:<digest> rw,
         commented:<user> rw, inbox:<user> rw, gone: r, active: rw, active:<slug> rw, changes: rw
]]
local article, sent, parent, author, now, prefix = KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[6], ARGV[9]

local time, removed, merged, locked, shown, number, groups, answered = unpack(redis.call('HMGET', article,
  'time', 'removed', 'merged', 'locked', 'comments', 'comment_ids', 'groups', 'poster'))
shown, number = as_count(shown or '0'), as_count(number or '0')
if not (as_time(time) and shown and number) then return {'missing'} end
if removed then return removal(merged) end
if is_gone(prefix, author) then return {'gone'} end
local first = redis.call('GET', sent)
if first and redis.call('HGET', prefix .. 'comment:' .. first, 'author') == author then return {'ok', first} end
if locked then return {'locked'} end
if parent ~= comment_id(ARGV[1], 0) then
  local above, hidden, deleted, theirs =
    unpack(redis.call('HMGET', prefix .. 'comment:' .. parent, 'time', 'removed', 'deleted', 'author'))
  if not above or deleted then return {'no_comment'} end
  if hidden then return {'comment_removed'} end
  answered = theirs
end
repeat number = number + 1 until redis.call('EXISTS', prefix .. 'comment:' .. comment_id(ARGV[1], number)) == 0
if number >= COMMENTS_PER_ARTICLE then return {'thread_full'} end

local id = comment_id(ARGV[1], number)
redis.call('HSET', prefix .. 'comment:' .. id, 'text', ARGV[5], 'html', ARGV[12], 'author', author, 'author_name', ARGV[4],
  'parent', parent, 'time', now, 'votes', 0, 'opposes', 0, 'closes', ARGV[7])
rank_reply(prefix, parent, id, now, 0, 0)
note_changed(prefix, 'c' .. id)
redis.call('ZADD', prefix .. 'commented:' .. author, now, id)
redis.call('HSET', article, 'comments', shown + 1, 'comment_ids', number, 'last_comment', now)
rank_active(prefix, ARGV[1], tonumber(now), false, split(groups))
redis.call('SET', sent, id, 'EX', ARGV[8])
if answered ~= author and not contains(ARGV[11], answered) then notify(prefix, answered, 'reply', id, now) end
note_mentions(prefix, prefix .. 'comment:' .. id, ARGV[10], '', author, id, now)
return {'ok', id}
