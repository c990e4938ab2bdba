--[[
Change an article's title, link, text and groups, and log the change.
KEYS  1 article
ARGV  1 id  2 title  3 link  4 editor's user id  5 editor's name  6 "1" for a moderator  7 now, s
      8 how long the poster may edit, s  9 reason  10 shard prefix  11 text, or ''
      12 groups to join, comma-separated  13 groups to leave  14 size of the hot list
      15 members that the text mentions, comma-separated  16 HTML of the text, as it is kept
      17 members that only the text before mentions, as in comments/edit.lua
Returns  {"ok", previous link} | {"missing"} | {"gone"} | {"removed"} | {"not_poster"} | {"late"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, score: rw, time: rw, points: rw, active: rw, top:<period> rw,
         group:<slug> rw, score:<slug> rw, time:<slug> rw, points:<slug> rw, active:<slug> rw, hot:score rw,
         hot:score:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r, log: rw
INCLUDE  articles, changes, closing, formulas, inbox, lists, members, moderation_log, ranking, values
]]
local article, moderator, now, prefix = KEYS[1], ARGV[6] == '1', ARGV[7], ARGV[10]

local title, link, poster, time, removed, text, votes, opposes, left_out, groups = unpack(redis.call('HMGET', article,
  'title', 'link', 'poster', 'time', 'removed', 'text', 'votes', 'opposes', 'left_out', 'groups'))
if not (title and link and as_time(time)) then return {'missing'} end
if is_gone(prefix, ARGV[4]) then return {'gone'} end
if not moderator then
  if poster ~= ARGV[4] then return {'not_poster'} end
  if removed then return {'removed'} end
  if milliseconds(moments(prefix, now)) - milliseconds(tonumber(time)) > milliseconds(tonumber(ARGV[8])) then
    return {'late'}
  end
end
local kept, joined, left = regroup(groups, ARGV[12], ARGV[13])
local moves = #joined + #left > 0
if moves and not (as_count(votes) and as_count(opposes)) then return {'missing'} end
if title == ARGV[2] and link == ARGV[3] and (text or '') == ARGV[11] and not moves then return {'ok', link} end

local details = {}
if title ~= ARGV[2] then details.old_title = title end
if link ~= ARGV[3] then details.old_link = link end
if (text or '') ~= ARGV[11] then details.text = not text and 'added' or ARGV[11] == '' and 'removed' or 'changed' end
if moves then
  details.added, details.removed = table.concat(joined, ','), table.concat(left, ',')
  if not removed then
    local points = ranked_points(votes, opposes, left_out)
    list_article(prefix, ARGV[1], tonumber(time), points, kept, parameters(prefix), tonumber(ARGV[14]))
  end
  leave_groups(prefix, ARGV[1], left)
  redis.call('HSET', article, 'groups', table.concat(kept, ','))
end
redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'edited', now)
set_text(article, ARGV[11], ARGV[16])
note_changed(prefix, ARGV[1])
log_article(prefix, 'edit', now, ARGV[5], ARGV[1], ARGV[2], ARGV[9], details)
note_mentions(prefix, article, ARGV[15], ARGV[17], poster, root_of(ARGV[1]), now)
return {'ok', link}
