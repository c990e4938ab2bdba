--[[
Count the articles, or the comments, under some words of one shard. Reads only.
KEYS  1 lexicon
ARGV  1 shard prefix  2 whose words: article or comment  3… words
Returns  {number of these, or -1 if the word's key is of another type, 1 if the lexicon holds the word or 0} of each
Cost  O(words · log N)
TOUCHES  comment:word:<word> r, comment:words: r, word:<word> r, words: r
]]
local prefix, of_comments, words = ARGV[1], ARGV[2] == 'comment', {unpack(ARGV, 3)}
local known, counts = redis.call('ZMSCORE', KEYS[1], unpack(words)), {}
for n, word in ipairs(words) do
  local key = of_comments and prefix .. 'comment:word:' .. word or prefix .. 'word:' .. word
  local count = redis.pcall('SCARD', key)
  counts[2 * n - 1], counts[2 * n] = type(count) == 'number' and count or -1, known[n] and 1 or 0
end
return counts
