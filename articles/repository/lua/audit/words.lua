--[[
Check that the articles under some words contain them. Reads only.
KEYS  1 lexicon
ARGV  1 shard prefix  2 number of words  3… the words, then ids: those to check of a word with many articles; without
      ids, all are checked
Returns  {word, problem, word, problem …}
Cost  O(ids)
TOUCHES  article:<id> r, word:<word> r, words: r
]]
local prefix, count, findings = ARGV[1], tonumber(ARGV[2]), {}

for at = 3, 2 + count do
  local word = ARGV[at]
  local key = prefix .. 'word:' .. word
  local function say(text) findings[#findings + 1], findings[#findings + 2] = word, text end
  local function check(id)
    local words, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'words', 'removed'))
    if removed then say('holds article ' .. id .. ', which is removed')
    elseif not string.find(words or '', ' ' .. word .. ' ', 1, true) then
      say('holds article ' .. id .. ', which does not have this word')
    end
  end
  local there, known = redis.call('EXISTS', key) == 1, redis.call('ZSCORE', prefix .. 'words:', word)
  if there and not known then say('not in the lexicon') end
  if known and not there then say('in the lexicon, but of no article') end
  if #ARGV > 2 + count then
    for n = 3 + count, #ARGV do if redis.call('SISMEMBER', key, ARGV[n]) == 1 then check(ARGV[n]) end end
  else
    for _, id in ipairs(redis.call('SMEMBERS', key)) do check(id) end
  end
end
return findings
