--[[
Change an article's title, link and text, index its new words, and log the change.
KEYS  1 article
ARGV  1 id  2 title  3 link  4 editor's user id  5 editor's name  6 "1" for a moderator  7 now, s
      8 how long the poster may edit, s  9 reason  10 shard prefix  11 words  12 poster's name in these words
      13 text, or ''  14 members that it mentions, comma-separated
Returns  {"ok", previous link} | {"missing"} | {"gone"} | {"removed"} | {"not_poster"} | {"late"}
         | {"changed"} if the poster's name has changed, so that the words must be made again
Cost  O(words)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, word:<word> rw, words: rw, ranking: r, log: rw
INCLUDE  articles, closing, members, moderation_log, values, words
]]
local article, moderator, now = KEYS[1], ARGV[6] == '1', ARGV[7]

local title, link, poster, name, time, removed, had, text =
  unpack(redis.call('HMGET', article, 'title', 'link', 'poster', 'poster_name', 'time', 'removed', 'words', 'text'))
if not (title and link and as_time(time)) then return {'missing'} end
if is_gone(ARGV[10], ARGV[4]) then return {'gone'} end
if not moderator then
  if poster ~= ARGV[4] then return {'not_poster'} end
  if removed then return {'removed'} end
  if milliseconds(moments(ARGV[10], now)) - milliseconds(tonumber(time)) > milliseconds(tonumber(ARGV[8])) then
    return {'late'}
  end
end
if title == ARGV[2] and link == ARGV[3] and (text or '') == ARGV[13] then return {'ok', link} end
if name ~= ARGV[12] then return {'changed'} end

local details = {}
if title ~= ARGV[2] then details.old_title = title end
if link ~= ARGV[3] then details.old_link = link end
if (text or '') ~= ARGV[13] then details.text = not text and 'added' or ARGV[13] == '' and 'removed' or 'changed' end
leave_words(ARGV[10], ARGV[1], had)
redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'words', ARGV[11], 'edited', now)
set_text(article, ARGV[13])
if not removed then enter_words(ARGV[10], ARGV[1], ARGV[11]) end
log_article(ARGV[10], 'edit', now, ARGV[5], ARGV[1], ARGV[2], ARGV[9], details)
notify_mentioned(ARGV[10], ARGV[14], poster, root_of(ARGV[1]), now)
return {'ok', link}
