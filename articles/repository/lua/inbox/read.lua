--[[
Read what some notices of a member point to. Reads only.
KEYS  1 moderation log
ARGV  1 shard prefix  2 number of fields of a comment  3… these fields; then the notices
Returns  {title of the article, poster's name, reason for its removal, row, entry, why it was kept, why the discussion is
         locked, deletion} for each notice; false for what does not exist. A row is what comment_row() returns; an entry is
         text of the moderation log; a deletion is {author, what it replied to} of a comment that its author deleted
Cost  O(notices), and the last entries of the moderation log about each article
TOUCHES  article:<id> r, comment:<comment> r, replies:time:<comment> r, flags:<comment> r, log: r
]]
local UNLOGGED = {reply = true, mention = true, suggestion = true, ['flag-removed'] = true}  -- other words are acts in the moderation log
local prefix, last = ARGV[1], 2 + tonumber(ARGV[2])
local fields, reply = {unpack(ARGV, 3, last)}, {}
for n = last + 1, #ARGV do
  local kind, subject = string.match(ARGV[n], '^([a-z-]+):(%d+)$')
  local article = article_of(subject)
  local row, entry, kept, deletion = false, false, false, {}
  local title, poster, removed, locked, deleted, merged = unpack(redis.call('HMGET', prefix .. 'article:' .. article,
    'title', 'poster_name', 'removed', 'locked', 'deleted', 'merged'))
  if merged then removed, locked = false, locked or '' end  -- its comments are shown, and take no replies
  if subject ~= comment_id(article, 0) then
    row = comment_row(prefix, subject, 0, fields)
    row = row[6] and row
    deletion = {string.match(',' .. (deleted or ''), ',' .. string.sub(subject, -6) .. ':(%d+):(%d+)')}
  end
  if kind == 'flag-kept' then kept = redis.call('HGET', prefix .. 'flags:' .. subject, 'kept')
  elseif not UNLOGGED[kind] then entry = latest_entry(prefix, article, kind, subject) end
  reply[#reply + 1] = {title, poster, removed, row, entry, kept, locked, deletion[1] and deletion or false}
end
return reply
