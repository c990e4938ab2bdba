--[[
Take a former member's name off articles, and the articles from under its words. Idempotent. One that has changed
since its words were made is left as it is.
KEYS  1 lexicon
ARGV  1 shard prefix  2… id, title, link, words without the name, of each
Returns  ids of those that have changed meanwhile
Cost  O(words)
]]
local prefix, changed = ARGV[1], {}
for at = 2, #ARGV, 4 do
  local id, words = ARGV[at], ARGV[at + 3]
  local article = prefix .. 'article:' .. id
  local title, link, had, removed = unpack(redis.call('HMGET', article, 'title', 'link', 'words', 'removed'))
  if title ~= ARGV[at + 1] or link ~= ARGV[at + 2] then
    changed[#changed + 1] = id
  else
    leave_words(prefix, id, had)
    redis.call('HSET', article, 'poster', '-1', 'poster_name', '', 'words', words)
    if not removed then enter_words(prefix, id, words) end
  end
end
return changed
