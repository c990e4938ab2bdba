--[[
Take out of some words of one shard what does not belong there, and set the lexicon right. Idempotent.
KEYS  1 lexicon
ARGV  1 shard prefix  2 how many words  3… the words  then ids: of a word with many, those to look at; else all
Returns  how many of the words are left
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
