--[[
Check that some articles of one shard are in the sets of their words and groups, and that removed ones are in none: as
many articles as one step can. Reads only.
KEYS  1… articles
ARGV  1 shard prefix  2 the words to look at, separated by spaces; * for all  3 the groups, separated by commas; * for all
      4 most sets to look into
Returns  {number of articles checked, {id, problem, id, problem …}}
Cost  O(words + groups), bounded by 4
TOUCHES  article:<id> r, group:<slug> r, word:<word> r
INCLUDE  values
]]
local prefix, most, examined, checked, findings = ARGV[1], tonumber(ARGV[4]), 0, 0, {}

-- Articles that are not whole have findings of their own.
local function is_whole_article(article)
  return is_whole(unpack(redis.call('HMGET', article, 'title', 'link', 'poster', 'poster_name', 'time', 'votes', 'opposes',
    'groups', 'archived')))
end

-- Return a function that notes the sets that an article is wrongly in or not in, of those that a list names and are wanted.
local function checker(key_of, separator, wanted, said)
  local some, pattern = {}, '[^' .. separator .. ']+'
  for name in string.gmatch(wanted, pattern) do some[name] = true end
  return function(id, article, names, removed)
    for name in string.gmatch(names or '', pattern) do
      if some[name] or wanted == '*' then
        examined = examined + 1
        local there = redis.call('SISMEMBER', key_of(name), id) == 1
        if there == (removed and true or false) and is_whole_article(article) then
          findings[#findings + 1], findings[#findings + 2] = id, (removed and 'removed, but ' or 'not ') .. said .. name
        end
      end
    end
  end
end

local check_words = checker(function(word) return prefix .. 'word:' .. word end, ' ', ARGV[2], 'under ')
local check_groups = checker(function(slug) return prefix .. 'group:' .. slug end, ',', ARGV[3], 'in ')

for _, article in ipairs(KEYS) do
  local id = string.match(article, '%d+$')
  local words, groups, removed = unpack(redis.call('HMGET', article, 'words', 'groups', 'removed'))
  check_words(id, article, words, removed)
  check_groups(id, article, groups, removed)
  checked, examined = checked + 1, examined + 1
  if examined > most then break end
end
return {checked, findings}
