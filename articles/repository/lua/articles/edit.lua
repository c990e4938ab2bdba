--[[
Change an article's title, link, text and groups, index its new words, and log the change.
KEYS  1 article
ARGV  1 id  2 title  3 link  4 editor's user id  5 editor's name  6 "1" for a moderator  7 now, s
      8 how long the poster may edit, s  9 reason  10 shard prefix  11 words  12 poster's name in these words
      13 text, or ''  14 groups to join, comma-separated  15 groups to leave  16 size of the hot list
      17 members that the text mentions, comma-separated  18 HTML of the text, as it is kept
      19 members that only the text before mentions, as in comments/edit.lua
Returns  {"ok", previous link} | {"missing"} | {"gone"} | {"removed"} | {"not_poster"} | {"late"}
         | {"changed"} if the poster's name has changed, so that the words must be made again
Cost  O(words + groups · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, score: rw, time: rw, points: rw, active: rw, top:<period> rw,
         group:<slug> rw, score:<slug> rw, time:<slug> rw, points:<slug> rw, active:<slug> rw, hot:score rw,
         hot:score:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, word:<word> rw, words: rw, ranking: r,
         log: rw
INCLUDE  articles, changes, closing, formulas, inbox, lists, members, moderation_log, ranking, values, words
]]
local article, moderator, now, prefix = KEYS[1], ARGV[6] == '1', ARGV[7], ARGV[10]

local title, link, poster, name, time, removed, had, text, votes, opposes, left_out, groups =
  unpack(redis.call('HMGET', article, 'title', 'link', 'poster', 'poster_name', 'time', 'removed', 'words', 'text',
    'votes', 'opposes', 'left_out', 'groups'))
if not (title and link and as_time(time)) then return {'missing'} end
if is_gone(prefix, ARGV[4]) then return {'gone'} end
if not moderator then
  if poster ~= ARGV[4] then return {'not_poster'} end
  if removed then return {'removed'} end
  if milliseconds(moments(prefix, now)) - milliseconds(tonumber(time)) > milliseconds(tonumber(ARGV[8])) then
    return {'late'}
  end
end
local kept, joined, left = regroup(groups, ARGV[14], ARGV[15])
local moves = #joined + #left > 0
if moves and not (as_count(votes) and as_count(opposes)) then return {'missing'} end
if title == ARGV[2] and link == ARGV[3] and (text or '') == ARGV[13] and not moves then return {'ok', link} end
if name ~= ARGV[12] then return {'changed'} end

local details = {}
if title ~= ARGV[2] then details.old_title = title end
if link ~= ARGV[3] then details.old_link = link end
if (text or '') ~= ARGV[13] then details.text = not text and 'added' or ARGV[13] == '' and 'removed' or 'changed' end
if moves then
  details.added, details.removed = table.concat(joined, ','), table.concat(left, ',')
  if not removed then
    local points = ranked_points(votes, opposes, left_out)
    list_article(prefix, ARGV[1], tonumber(time), points, kept, parameters(prefix), tonumber(ARGV[16]))
  end
  leave_groups(prefix, ARGV[1], left)
  redis.call('HSET', article, 'groups', table.concat(kept, ','))
end
leave_words(prefix, ARGV[1], had)
redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'words', ARGV[11], 'edited', now)
set_text(article, ARGV[13], ARGV[18])
if not removed then enter_words(prefix, ARGV[1], ARGV[11]) end
note_changed(prefix, ARGV[1])
log_article(prefix, 'edit', now, ARGV[5], ARGV[1], ARGV[2], ARGV[9], details)
note_mentions(prefix, article, ARGV[17], ARGV[19], poster, root_of(ARGV[1]), now)
return {'ok', link}
