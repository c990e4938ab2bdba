--[[
The search index: articles and comments by word, and a lexicon of all words of each. Words are given as one text, separated
by spaces.
INCLUDE  changes, values
]]
-- Enter {id, words, id, words …} under their words, and these into the lexicon. `key_of` returns the key of a word. A word is
-- written once.
local function enter_under(key_of, lexicon, named)
  local ids_of, entries = {}, {}
  for n = 1, #named, 2 do
    for word in string.gmatch(named[n + 1] or '', '[^ ]+') do
      if not ids_of[word] then
        ids_of[word] = {}
        entries[#entries + 1], entries[#entries + 2] = 0, word
      end
      table.insert(ids_of[word], named[n])
    end
  end
  for word, ids in pairs(ids_of) do
    in_batches(ids, function(...) redis.call('SADD', key_of(word), ...) end)
  end
  in_batches(entries, function(...) redis.call('ZADD', lexicon, ...) end)
end

-- Remove an id from its words, and words that nothing is left under from the lexicon.
local function leave_under(key_of, lexicon, id, words)
  for word in string.gmatch(words or '', '[^ ]+') do
    local key = key_of(word)
    if redis.call('SREM', key, id) == 1 and redis.call('EXISTS', key) == 0 then redis.call('ZREM', lexicon, word) end
  end
end

-- Index articles, {id, words, id, words …}.
local function enter_all_words(prefix, named)
  enter_under(function(word) return prefix .. 'word:' .. word end, prefix .. 'words:', named)
end

local function enter_words(prefix, id, words)
  enter_all_words(prefix, {id, words})
end

local function leave_words(prefix, id, words)
  leave_under(function(word) return prefix .. 'word:' .. word end, prefix .. 'words:', id, words)
end

-- Index a comment that is shown, by its words and its time.
local function enter_comment(prefix, id, time, words)
  note_changed(prefix, 'c' .. id)
  redis.call('ZADD', prefix .. 'comment:time:', time, id)
  enter_under(function(word) return prefix .. 'comment:word:' .. word end, prefix .. 'comment:words:', {id, words})
end

local function leave_comment(prefix, id, words)
  note_changed(prefix, 'c' .. id)
  redis.call('ZREM', prefix .. 'comment:time:', id)
  leave_under(function(word) return prefix .. 'comment:word:' .. word end, prefix .. 'comment:words:', id, words)
end
