--[[
Give a member's articles another name, or to a deleted member, in the search index too; the articles of a deleted member leave
the list of the former one. Idempotent. An article that has changed since its words were made is left unchanged.
KEYS  1 lexicon  2 articles that the member posted
ARGV  1 shard prefix  2 user id  3 user id from now on  4 name from now on  5… of each article: id, title, link, words
Returns  ids of the articles that have changed
Cost  O(words)
TOUCHES  article:<id> rw, posted:<user> rw, word:<word> rw, words: rw
INCLUDE  changes, words
]]
local prefix, user, user_now, name, changed = ARGV[1], ARGV[2], ARGV[3], ARGV[4], {}
for at = 5, #ARGV, 4 do
  local id, words = ARGV[at], ARGV[at + 3]
  local article = prefix .. 'article:' .. id
  local poster, title, link, had, removed =
    unpack(redis.call('HMGET', article, 'poster', 'title', 'link', 'words', 'removed'))
  local is_theirs = poster == user
  if is_theirs and ((title or '') ~= ARGV[at + 1] or (link or '') ~= ARGV[at + 2]) then
    changed[#changed + 1] = id
  else
    if is_theirs then
      leave_words(prefix, id, had)
      redis.call('HSET', article, 'poster', user_now, 'poster_name', name, 'words', words)
      note_changed(prefix, id)
      if not removed then enter_words(prefix, id, words) end
    end
    if user_now ~= user then redis.call('ZREM', KEYS[2], id) end
  end
end
return changed
