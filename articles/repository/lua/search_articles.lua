--[[
Look for articles of one shard that meet all terms. Reads only.
KEYS  1 ranking of all articles
ARGV  1 shard prefix  2 query, JSON: {terms: [{words, beginning, groups}], hidden: [groups]}  3 matches wanted
      4 rank from which to walk on  5 "walk" or "meet": first intersect the sets of the frequent words
Returns  {"all", how many match, id, value …}: every match is known, the best of them follow
       | {"some", rank to walk on from, id, value …}: the matches among the articles walked past, best first
Cost  O(the rarest term), or some thousand articles of the ranking
Few ids are read and sorted; the frequent are met soon when one walks down the ranking. What is both frequent
alone and rare together is intersected. Each call takes some milliseconds, whatever the query.
]]
local prefix, query, wanted, start = ARGV[1], cjson.decode(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local FEW, STEP, AT_ONCE, MOST_WORDS, MOST_MET = 3000, 4000, 250, 500, 60000
local terms, hidden = {}, #query.hidden > 0

-- The sets of a term's ids: nil for a beginning of too many words, which are told by the articles' own fields.
local function sets_of(term)
  local sets = {}
  for _, word in ipairs(term.words) do sets[#sets + 1] = prefix .. 'word:' .. word end
  for _, slug in ipairs(term.groups) do sets[#sets + 1] = prefix .. 'group:' .. slug end
  if term.beginning ~= '' then
    local range = {'[' .. term.beginning, '(' .. term.beginning .. '\255', 'LIMIT', 0, MOST_WORDS + 1}
    local words = redis.call('ZRANGEBYLEX', prefix .. 'words:', unpack(range))
    if #words > MOST_WORDS then return nil end
    for _, word in ipairs(words) do sets[#sets + 1] = prefix .. 'word:' .. word end
  end
  return sets
end

local function prepared(term)
  local sets, size = sets_of(term), 0
  if not sets then return {term = term, size = math.huge} end
  local there = {}
  for _, key in ipairs(sets) do
    local count = redis.call('SCARD', key)
    if count > 0 then there[#there + 1], size = key, size + count end
  end
  return {term = term, size = size, sets = there, single = #there == 1 and there[1] or nil}
end

local function meets(term, words, groups)
  for _, word in ipairs(term.words) do if string.find(words, ' ' .. word .. ' ', 1, true) then return true end end
  if term.beginning ~= '' and string.find(words, ' ' .. term.beginning, 1, true) then return true end
  for _, slug in ipairs(term.groups) do if string.find(groups, ',' .. slug .. ',', 1, true) then return true end end
  return false
end

-- Those of the ids that are in a set.
local function among(key, ids)
  local kept = {}
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    for n, inside in ipairs(redis.call('SMISMEMBER', key, unpack(ids, first, last))) do
      if inside == 1 then kept[#kept + 1] = ids[first + n - 1] end
    end
  end
  return kept
end

local texts = 0 -- terms that are not told by one set
local function verified(ids, driver)
  for _, one in ipairs(terms) do
    if one ~= driver and one.single and #ids > 0 then ids = among(one.single, ids) end
  end
  if not hidden and (texts == 0 or texts == 1 and driver and not driver.single) then return ids end
  local kept = {}
  for _, id in ipairs(ids) do
    local words, groups = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'words', 'groups'))
    words, groups = ' ' .. (words or '') .. ' ', ',' .. (groups or '') .. ','
    local ok = true
    for _, one in ipairs(terms) do
      if ok and one ~= driver and not one.single then ok = meets(one.term, words, groups) end
    end
    for _, slug in ipairs(query.hidden) do ok = ok and not string.find(groups, ',' .. slug .. ',', 1, true) end
    if ok then kept[#kept + 1] = id end
  end
  return kept
end

-- All of these that are ranked, best first: as the ranking orders, by value, then by the id's bytes.
local function answer_all(ids)
  local found, reply = {}, {}
  for first = 1, #ids, 1000 do
    local values = redis.call('ZMSCORE', KEYS[1], unpack(ids, first, math.min(first + 999, #ids)))
    for n, value in ipairs(values) do
      if value then found[#found + 1] = {ids[first + n - 1], value, tonumber(value)} end
    end
  end
  table.sort(found, function(a, b) if a[3] ~= b[3] then return a[3] > b[3] end return a[1] > b[1] end)
  for at = 1, math.min(wanted, #found) do
    reply[#reply + 1], reply[#reply + 2] = found[at][1], found[at][2]
  end
  return {'all', #found, unpack(reply)}
end

local function walk()
  local reply, at = {}, start
  while at < start + STEP do
    local flat, ids, values = redis.call('ZREVRANGE', KEYS[1], at, at + AT_ONCE - 1, 'WITHSCORES'), {}, {}
    for n = 1, #flat, 2 do
      ids[#ids + 1] = flat[n]
      values[flat[n]] = flat[n + 1]
    end
    at = at + AT_ONCE
    for _, id in ipairs(verified(ids)) do reply[#reply + 1], reply[#reply + 2] = id, values[id] end
    if #ids < AT_ONCE then return {start == 0 and 'all' or 'some', start == 0 and #reply / 2 or -1, unpack(reply)} end
    if #reply >= 2 * wanted then break end
  end
  return {'some', at, unpack(reply)}
end

local driver, singles = nil, {}
for n, term in ipairs(query.terms) do
  terms[n] = prepared(term)
  if terms[n].size == 0 then return {'all', 0} end
  if not driver or terms[n].size < driver.size then driver = terms[n] end
  if terms[n].single then singles[#singles + 1] = terms[n].single else texts = texts + 1 end
end
if driver.size <= FEW then
  return answer_all(verified(redis.call('SUNION', unpack(driver.sets)), driver))
end
if ARGV[5] == 'meet' and #singles > 1 and driver.size <= MOST_MET then
  local ids = redis.call('SINTER', unpack(singles))
  if #ids <= FEW then return answer_all(verified(ids)) end
end
return walk()
