--[[
Index some articles of one shard under the words that their hashes name, in an index that has no others of theirs. Idempotent.
KEYS  1 lexicon
ARGV  1 shard prefix  2… ids
Returns  {"ok"}
Cost  O(words)
TOUCHES  article:<id> r, word:<word> rw, words: rw
INCLUDE  words
]]
local prefix, named = ARGV[1], {}
for at = 2, #ARGV do
  local words, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. ARGV[at], 'words', 'removed'))
  if words and not removed then named[#named + 1], named[#named + 2] = ARGV[at], words end
end
enter_all_words(prefix, named)
return {'ok'}
