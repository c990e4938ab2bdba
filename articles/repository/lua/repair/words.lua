--[[
Remove from some words of one shard the articles, or the comments, that do not contain them, and correct the lexicon. Idempotent.
KEYS  1 lexicon
ARGV  1 shard prefix  2 whose words: article or comment  3 number of words  4… the words, then ids: those to check of a
      word with many; without ids, all are checked
Returns  number of these words that still have any
Cost  O(ids)
TOUCHES  article:<id> r, comment:<comment> r, comment:word:<word> rw, comment:words: rw, word:<word> rw, words: rw
]]
local prefix, of_comments, count, left = ARGV[1], ARGV[2] == 'comment', tonumber(ARGV[3]), 0

for at = 4, 3 + count do
  local word = ARGV[at]
  local key = of_comments and prefix .. 'comment:word:' .. word or prefix .. 'word:' .. word
  local function check(id)
    local hash = of_comments and prefix .. 'comment:' .. id or prefix .. 'article:' .. id
    local words, removed = unpack(redis.call('HMGET', hash, 'words', 'removed'))
    local belongs = not removed and string.find(words or '', ' ' .. word .. ' ', 1, true)
    if not belongs then redis.call('SREM', key, id) end
  end
  if #ARGV > 3 + count then
    for n = 4 + count, #ARGV do check(ARGV[n]) end
  else
    for _, id in ipairs(redis.call('SMEMBERS', key)) do check(id) end
  end
  if redis.call('EXISTS', key) == 1 then
    redis.call('ZADD', KEYS[1], 0, word)
    left = left + 1
  else
    redis.call('ZREM', KEYS[1], word)
  end
end
return left
