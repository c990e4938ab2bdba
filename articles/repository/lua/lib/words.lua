--[[
The search index: articles by word, and the lexicon of all words. Words are given as one text, separated by spaces.
]]
-- Index an article under its words, and add words that are new to the shard to the lexicon.
local function enter_words(prefix, id, words)
  for word in string.gmatch(words or '', '[^ ]+') do
    local key = prefix .. 'word:' .. word
    if redis.call('SADD', key, id) == 1 and redis.call('SCARD', key) == 1 then
      redis.call('ZADD', prefix .. 'words:', 0, word)
    end
  end
end

-- Remove an article from its words, and words without articles from the lexicon.
local function leave_words(prefix, id, words)
  for word in string.gmatch(words or '', '[^ ]+') do
    local key = prefix .. 'word:' .. word
    if redis.call('SREM', key, id) == 1 and redis.call('EXISTS', key) == 0 then
      redis.call('ZREM', prefix .. 'words:', word)
    end
  end
end
