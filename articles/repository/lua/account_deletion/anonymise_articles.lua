--[[
Take a former member's name off articles, and the articles from under its words and off its list. Idempotent. An
article that has changed since its words were made stays as it is, and on the list.
KEYS  1 lexicon  2 articles the member posted
ARGV  1 shard prefix  2 user id  3… id, title, link, words without the name, of each
Returns  ids of those that have changed meanwhile
Cost  O(words)
TOUCHES  article:<id> rw, posted:<user> rw, word:<word> rw, words: rw
INCLUDE  words
]]
local prefix, user, changed = ARGV[1], ARGV[2], {}
for at = 3, #ARGV, 4 do
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
      redis.call('HSET', article, 'poster', '-1', 'poster_name', '', 'words', words)
      if not removed then enter_words(prefix, id, words) end
    end
    redis.call('ZREM', KEYS[2], id)
  end
end
return changed
