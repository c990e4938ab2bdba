--[[
Change an article's content and groups, and log the change.
KEYS  1 article
ARGV  1 id  2 editor's user id  3 editor's name  4 1 for a moderator, else the groups for members only,
      comma-separated  5 now, s  6 how long the poster may edit, s
      7 reason  8 shard prefix  9 groups to join, comma-separated  10 groups to leave  11 size of the hot list
      12 members that the text mentions, comma-separated  13 members that only the text before mentions, as in
      comments/edit.lua  14 text, or ''  15 HTML of the text, as it is kept  16 "title"  17 title  18… further content:
      fields, each followed by its value
Returns  {"ok", previous link} | {"missing"} | {"gone"} | {"removed"} | {"merged_away"} | {"not_poster"} | {"late"}
         | {"readers"} if an article with comments would join the first group for members only, or leave the last
Cost  O(groups · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw, group:<slug> rw, <order>:<slug> rw,
         counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r, log: rw
]]
local article, id, editor, name, moderator, now, window, reason, prefix, join, leave = KEYS[1], unpack(ARGV)
local title, link, poster, time, removed, merged, text, votes, opposes, left_out, groups, merges = unpack(redis.call('HMGET', article,
  'title', 'link', 'poster', 'time', 'removed', 'merged', 'text', 'votes', 'opposes', 'left_out', 'groups', 'merges'))
if not (title and link and as_time(time)) then return {'missing'} end
if is_gone(prefix, editor) then return {'gone'} end
if merged then return removal(merged) end
if moderator ~= '1' then
  if poster ~= editor then return {'not_poster'} end
  if removed then return removal() end
  if milliseconds(moments(prefix, now)) - milliseconds(tonumber(time)) > milliseconds(tonumber(window)) then
    return {'late'}
  end
end
local kept, joined, left = regroup(groups, join, leave)
local opens = moderator ~= '1' and meet(groups, moderator) ~= meet(table.concat(kept, ','), moderator)
if opens and (merges or redis.call('HEXISTS', article, 'comment_ids') == 1) then return {'readers'} end
local moves = #joined + #left > 0
if moves and not (as_count(votes) and as_count(opposes)) then return {'missing'} end
local details, differs = {}, (text or '') ~= ARGV[14]
if differs then details.text = not text and 'added' or ARGV[14] == '' and 'removed' or 'changed' end
for at = 16, #ARGV, 2 do
  local old = redis.call('HGET', article, ARGV[at]) or ''
  if old ~= ARGV[at + 1] then details['old_' .. ARGV[at]], differs = old, true end
end
if not (differs or moves) then return {'ok', link} end

if moves then
  details.added, details.removed = table.concat(joined, ','), table.concat(left, ',')
  if not removed then
    list_article(prefix, id, tonumber(time), votes, opposes, left_out, kept, parameters(prefix), tonumber(ARGV[11]))
  end
  leave_groups(prefix, id, left)
  redis.call('HSET', article, 'groups', table.concat(kept, ','))
end
redis.call('HSET', article, 'edited', now, unpack(ARGV, 16))
set_text(article, ARGV[14], ARGV[15])
note_changed(prefix, id)
log_article(prefix, 'edit', now, name, id, ARGV[17], reason, details)
note_mentions(prefix, article, ARGV[12], ARGV[13], poster, root_of(id), now)
return {'ok', link}
