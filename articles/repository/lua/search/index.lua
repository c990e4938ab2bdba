--[[
Index some articles of one shard under their words, and under no others. Idempotent. An article that has changed since
its words were made is left unchanged.
KEYS  1 lexicon
ARGV  1 shard prefix  2… of each article: id, title, link, poster's name, words
Returns  ids of the articles that have changed
Cost  O(words)
TOUCHES  article:<id> rw, word:<word> rw, words: rw
INCLUDE  words
]]
local prefix, changed, named = ARGV[1], {}, {}
for at = 2, #ARGV, 5 do
  local id, words = ARGV[at], ARGV[at + 4]
  local article = prefix .. 'article:' .. id
  local title, link, name, had, removed =
    unpack(redis.call('HMGET', article, 'title', 'link', 'poster_name', 'words', 'removed'))
  if title ~= ARGV[at + 1] or link ~= ARGV[at + 2] or name ~= ARGV[at + 3] then
    if title then changed[#changed + 1] = id end
  else
    if had ~= words then
      leave_words(prefix, id, had)
      redis.call('HSET', article, 'words', words)
    end
    if removed then leave_words(prefix, id, words) else named[#named + 1], named[#named + 2] = id, words end
  end
end
enter_all_words(prefix, named)
return changed
