--[[
The search index: articles by word, and the lexicon of all words. Words are given as one text, separated by spaces.
INCLUDE  values
]]
-- Index articles, {id, words, id, words …}, under their words, and add these to the lexicon. A word is written once.
local function enter_all_words(prefix, named)
  local ids_of, lexicon = {}, {}
  for n = 1, #named, 2 do
    for word in string.gmatch(named[n + 1] or '', '[^ ]+') do
      if not ids_of[word] then
        ids_of[word] = {}
        lexicon[#lexicon + 1], lexicon[#lexicon + 2] = 0, word
      end
      table.insert(ids_of[word], named[n])
    end
  end
  for word, ids in pairs(ids_of) do
    in_batches(ids, function(...) redis.call('SADD', prefix .. 'word:' .. word, ...) end)
  end
  in_batches(lexicon, function(...) redis.call('ZADD', prefix .. 'words:', ...) end)
end

local function enter_words(prefix, id, words)
  enter_all_words(prefix, {id, words})
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
