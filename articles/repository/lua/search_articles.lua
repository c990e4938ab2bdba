--[[
Look for articles of one shard that meet all terms. Reads only.
KEYS  1 ranking of all articles
ARGV  1 shard prefix  2 query, JSON: {terms: [{words, beginning, groups}], hidden: [groups]}  3 matches wanted
      4 rank from which to walk on  5 what to do if no term is rare: "walk" down the ranking, "meet": look at all
      that have the rarest term, else walk; "sample": look at some that have it
      6 how many articles are few  7 articles walked past in a call
Returns  {"all", how many match, id, value …}: every match is known, the best of them follow
       | {"some", rank to walk on from, id, value …}: matches among the articles looked at
Cost  O(the rarest term), or some thousand articles of the ranking
What is rare is read and sorted; what is frequent is met soon when one walks down the ranking. Words that are
frequent alone and rare together are intersected. Each call takes some milliseconds, whatever the query.
]]
local prefix, query, wanted, start = ARGV[1], cjson.decode(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local few, step = tonumber(ARGV[6]), tonumber(ARGV[7])
local AT_ONCE, MOST_WORDS, MOST_SETS, MOST_TEXTS = math.min(250, step), 500, 6, few / 2
local MOST_MET, MOST_INTERSECTED = 7 * few, 20 * few
local terms, driver, read, hidden = {}, nil, 0, #query.hidden > 0

-- A term with those of its sets that are there, the largest first; without where it begins too many words: that is
-- told by the articles' own fields. `size` is at least the number of articles that meet it.
local function prepared(term)
  local keys, one = {}, {term = term, size = 0, sets = {}}
  for _, word in ipairs(term.words) do keys[#keys + 1] = prefix .. 'word:' .. word end
  for _, slug in ipairs(term.groups) do keys[#keys + 1] = prefix .. 'group:' .. slug end
  if term.beginning ~= '' then
    local from, to = '[' .. term.beginning, '(' .. term.beginning .. '\255'
    local words = redis.call('ZRANGEBYLEX', prefix .. 'words:', from, to, 'LIMIT', 0, MOST_WORDS + 1)
    if #words > MOST_WORDS then return {term = term, size = math.huge} end
    for _, word in ipairs(words) do keys[#keys + 1] = prefix .. 'word:' .. word end
  end
  local sizes = {}
  for _, key in ipairs(keys) do
    if not sizes[key] then
      sizes[key] = redis.call('SCARD', key)
      one.size = one.size + sizes[key]
      if sizes[key] > 0 then one.sets[#one.sets + 1] = key end
    end
  end
  table.sort(one.sets, function(a, b) return sizes[a] > sizes[b] end)
  one.by_sets = #one.sets <= MOST_SETS
  return one
end

local function meets(term, words, groups)
  for _, word in ipairs(term.words) do if string.find(words, ' ' .. word .. ' ', 1, true) then return true end end
  if term.beginning ~= '' and string.find(words, ' ' .. term.beginning, 1, true) then return true end
  for _, slug in ipairs(term.groups) do if string.find(groups, ',' .. slug .. ',', 1, true) then return true end end
  return false
end

-- Those of the ids that are in any of the sets, in their order.
local function among(sets, ids)
  local kept = {}
  for first = 1, #ids, 1000 do
    local last, inside = math.min(first + 999, #ids), {}
    for _, key in ipairs(sets) do
      for n, met in ipairs(redis.call('SMISMEMBER', key, unpack(ids, first, last))) do
        if met == 1 then inside[n] = true end
      end
    end
    for n = 1, last - first + 1 do if inside[n] then kept[#kept + 1] = ids[first + n - 1] end end
  end
  return kept
end

-- Those of the ids that meet all terms but these, and are in no hidden group.
local function verified(ids, met)
  local by_text = {}
  for _, one in ipairs(terms) do
    if met[one] then -- nothing to look at
    elseif one.by_sets then ids = #ids > 0 and among(one.sets, ids) or ids
    else by_text[#by_text + 1] = one.term end
  end
  if #by_text == 0 and not hidden then return ids end
  local kept = {}
  read = read + #ids
  for _, id in ipairs(ids) do
    local words, groups = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'words', 'groups'))
    local ok = true
    words, groups = words or '', groups ~= '' and ',' .. (groups or '') .. ',' or ''
    for _, term in ipairs(by_text) do ok = ok and meets(term, words, groups) end
    for _, slug in ipairs(query.hidden) do ok = ok and not string.find(groups, ',' .. slug .. ',', 1, true) end
    if ok then kept[#kept + 1] = id end
  end
  return kept
end

local function values_of(ids)
  local values = {}
  for first = 1, #ids, 1000 do
    local part = redis.call('ZMSCORE', KEYS[1], unpack(ids, first, math.min(first + 999, #ids)))
    for n, value in ipairs(part) do values[first + n - 1] = value end
  end
  return values
end

-- Those that are ranked, best first: as the ranking orders, by value, then by the id's bytes.
local function answer(status, number, ids)
  local found, values = {}, values_of(ids)
  for n, id in ipairs(ids) do
    if values[n] then found[#found + 1] = {id, values[n], tonumber(values[n])} end
  end
  table.sort(found, function(a, b) if a[3] ~= b[3] then return a[3] > b[3] end return a[1] > b[1] end)
  local reply = {status, number or #found}
  for at = 1, math.min(wanted, #found) do
    reply[#reply + 1], reply[#reply + 2] = found[at][1], found[at][2]
  end
  return reply
end

local function walk()
  local found, at, ended = {}, start, false
  while at < start + step and #found < wanted and read < MOST_TEXTS and not ended do
    local ids = redis.call('ZREVRANGE', KEYS[1], at, at + AT_ONCE - 1)
    ended, at = #ids < AT_ONCE, at + AT_ONCE
    for _, id in ipairs(verified(ids, {})) do found[#found + 1] = id end
  end
  if ended and start == 0 then return answer('all', nil, found) end
  local reply, values = {'some', ended and -1 or at}, values_of(found)
  for n, id in ipairs(found) do
    if values[n] then reply[#reply + 1], reply[#reply + 2] = id, values[n] end
  end
  return reply
end

-- All matches, if they are among few enough articles; else nil.
local function meet()
  local met, singles, ids = {}, {}, nil
  for _, one in ipairs(terms) do
    if one.sets and #one.sets == 1 then singles[#singles + 1], met[one] = one.sets[1], true end
  end
  if #singles > 1 and driver.size <= MOST_INTERSECTED then
    ids = redis.call('SINTER', unpack(singles))
  elseif driver.size <= MOST_MET then
    ids, met = redis.call('SUNION', unpack(driver.sets)), {[driver] = true}
  end
  if not ids or #ids > MOST_MET then return nil end
  ids = verified(ids, met)
  return #ids <= 2 * few and ids or nil
end

for n, term in ipairs(query.terms) do
  terms[n] = prepared(term)
  if terms[n].size == 0 then return {'all', 0} end
  if not driver or terms[n].size < driver.size then driver = terms[n] end
end
local ids
if driver.size <= few then
  ids = verified(redis.call('SUNION', unpack(driver.sets)), {[driver] = true})
elseif ARGV[5] == 'meet' then
  ids = meet()
elseif ARGV[5] == 'sample' and driver.sets then
  local some = redis.call('SSCAN', driver.sets[1], 0, 'COUNT', few)[2]
  for n = #some, few + 1, -1 do some[n] = nil end
  return answer('some', start, verified(some, {}))
end
return ids and answer('all', nil, ids) or walk()
