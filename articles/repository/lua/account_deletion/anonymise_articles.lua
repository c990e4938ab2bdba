--[[
Remove a deleted member's name from articles and from the search index, and the articles from the member's list. Idempotent.
An article that has changed since its words were made is left unchanged, and stays on the list.
KEYS  1 lexicon  2 articles that the member posted
ARGV  1 shard prefix  2 user id  3… of each article: id, title, link, words without the name
Returns  ids of the articles that have changed
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
