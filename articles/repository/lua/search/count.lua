--[[
Count the articles under some words of one shard. Reads only.
KEYS  1 lexicon
ARGV  1 shard prefix  2… words
Returns  {number of articles, or -1 if the word's key is of another type, 1 if the lexicon holds the word or 0} of each
Cost  O(words · log N)
TOUCHES  word:<word> r, words: r
]]
local words = {unpack(ARGV, 2)}
local known, counts = redis.call('ZMSCORE', KEYS[1], unpack(words)), {}
for n, word in ipairs(words) do
  local count = redis.pcall('SCARD', ARGV[1] .. 'word:' .. word)
  counts[2 * n - 1], counts[2 * n] = type(count) == 'number' and count or -1, known[n] and 1 or 0
end
return counts
