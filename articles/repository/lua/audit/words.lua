--[[
Check that the articles, or the comments, under some words contain them. Reads only.
KEYS  1 lexicon
ARGV  1 shard prefix  2 whose words: article or comment  3 number of words  4… the words, then ids: those to check of a
      word with many; without ids, all are checked
Returns  {word, problem, word, problem …}
Cost  O(ids)
TOUCHES  article:<id> r, comment:<comment> r, comment:word:<word> r, comment:words: r, word:<word> r, words: r
]]
local prefix, kind, count, findings = ARGV[1], ARGV[2], tonumber(ARGV[3]), {}
local of_comments = kind == 'comment'

for at = 4, 3 + count do
  local word = ARGV[at]
  local key = of_comments and prefix .. 'comment:word:' .. word or prefix .. 'word:' .. word
  local function say(text) findings[#findings + 1], findings[#findings + 2] = word, text end
  local function check(id)
    local hash = of_comments and prefix .. 'comment:' .. id or prefix .. 'article:' .. id
    local words, removed = unpack(redis.call('HMGET', hash, 'words', 'removed'))
    if removed then say('holds ' .. kind .. ' ' .. id .. ', which is removed')
    elseif not string.find(words or '', ' ' .. word .. ' ', 1, true) then
      say('holds ' .. kind .. ' ' .. id .. ', which does not have this word')
    end
  end
  local there, known = redis.call('EXISTS', key) == 1, redis.call('ZSCORE', KEYS[1], word)
  if there and not known then say('not in the lexicon') end
  if known and not there then say('in the lexicon, but of no ' .. kind) end
  if #ARGV > 3 + count then
    for n = 4 + count, #ARGV do if redis.call('SISMEMBER', key, ARGV[n]) == 1 then check(ARGV[n]) end end
  else
    for _, id in ipairs(redis.call('SMEMBERS', key)) do check(id) end
  end
end
return findings
