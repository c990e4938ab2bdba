--[[
Remove from some words of one shard the articles that do not contain them, and correct the lexicon. Idempotent.
KEYS  1 lexicon
ARGV  1 shard prefix  2 number of words  3… the words, then ids: those to check of a word with many articles; without
      ids, all are checked
Returns  number of these words that still have articles
Cost  O(ids)
TOUCHES  article:<id> r, word:<word> rw, words: rw
]]
local prefix, count, left = ARGV[1], tonumber(ARGV[2]), 0

for at = 3, 2 + count do
  local word = ARGV[at]
  local key = prefix .. 'word:' .. word
  local function check(id)
    local words, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'words', 'removed'))
    local belongs = not removed and string.find(words or '', ' ' .. word .. ' ', 1, true)
    if not belongs then redis.call('SREM', key, id) end
  end
  if #ARGV > 2 + count then
    for n = 3 + count, #ARGV do check(ARGV[n]) end
  else
    for _, id in ipairs(redis.call('SMEMBERS', key)) do check(id) end
  end
  if redis.call('EXISTS', key) == 1 then
    redis.call('ZADD', prefix .. 'words:', 0, word)
    left = left + 1
  else
    redis.call('ZREM', prefix .. 'words:', word)
  end
end
return left
