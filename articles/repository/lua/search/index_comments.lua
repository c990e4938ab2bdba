--[[
Index some comments of one shard under the words of their texts if they are shown, else under none. Idempotent. A comment
that has been edited since its words were made is left unchanged.
KEYS  1 lexicon
ARGV  1 shard prefix  2… of each comment: id, text, words; the text may be '' if the comment names these words
Returns  {"ok"}
Cost  O(words · log N)
TOUCHES  comment:<comment> rw, comment:time: rw, comment:word:<word> rw, comment:words: rw
INCLUDE  values, words
]]
local prefix = ARGV[1]
for at = 2, #ARGV, 3 do
  local id, words = ARGV[at], ARGV[at + 2]
  local comment = prefix .. 'comment:' .. id
  local text, time, had, removed, deleted = unpack(redis.call('HMGET', comment, 'text', 'time', 'words', 'removed', 'deleted'))
  if had ~= words and text == ARGV[at + 1] then
    leave_comment(prefix, id, had)
    redis.call('HSET', comment, 'words', words)
    had = words
  end
  if had == words then
    if removed or deleted or not as_time(time) then leave_comment(prefix, id, words)
    else enter_comment(prefix, id, time, words) end
  end
end
return {'ok'}
