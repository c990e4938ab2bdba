--[[
Find articles, or comments that are shown, of one shard that match all terms. Reads only.
Rare terms are read and sorted; frequent ones are soon met while walking down the ranking. Words that are frequent alone
and rare together are intersected, which costs least per article; reading an article's own words costs most. Each call
takes a few milliseconds, whatever the query.
KEYS  1 ranking of all articles, or of all comments
ARGV  1 shard prefix  2 query, JSON: {terms: [{words, beginning, groups}], hidden: [groups], group: the only one of the
      articles that comments are on, or ''}; terms of comments have no groups  3 matches wanted
      4 rank from which to continue walking  5 what to do if no term is rare: "walk" down the ranking, unless that
      is sure to find little; "meet": examine all articles with the rarest term, else walk; "sample": examine some of them
      6 up to how many articles a term is rare  7 articles to walk past in a call  8 what to find: article or comment
Returns  {"all", number of matches, id, value …}: every match is known, and the best follow
       | {"some", rank from which to continue walking, id, value …}: matches among the articles examined
Cost  O(the rarest term), or some thousand articles of the ranking
TOUCHES  article:<id> r, comment:<comment> r, comment:time: r, comment:word:<word> r, comment:words: r, score: r, time: r, points: r, active: r, group:<slug> r, hot:score r, word:<word> r, words: r
INCLUDE  values
]]
local prefix, query, wanted, start = ARGV[1], cjson.decode(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local few, step, of_comments = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == 'comment'
local AT_ONCE, MOST_WORDS, MOST_SETS, MOST_TEXTS = math.min(250, step), 500, 6, few / 4
local MOST_MET, MOST_INTERSECTED, MOST_INTERSECTIONS, FEW_HIDDEN = 3 * few, 40 * few, 1500, 10
local terms, sizes, driver, read = {}, {}, nil, 0

local function key_of(word)
  return of_comments and prefix .. 'comment:word:' .. word or prefix .. 'word:' .. word
end

local function words_from(...)
  return redis.call('ZRANGEBYLEX', of_comments and prefix .. 'comment:words:' or prefix .. 'words:', ...)
end

-- Return a term with those of its sets that exist, the largest first; without sets if it begins too many words: then the
-- articles' own fields decide. `size` is at least the number of articles that match it.
local function prepared(term)
  local keys, one, known = {}, {term = term, size = 0, sets = {}}, {}
  for _, word in ipairs(term.words) do keys[#keys + 1] = key_of(word) end
  for _, slug in ipairs(term.groups) do keys[#keys + 1] = prefix .. 'group:' .. slug end
  if term.beginning ~= '' then
    local from, to = '[' .. term.beginning, '(' .. term.beginning .. '\255'
    local words = words_from(from, to, 'LIMIT', 0, MOST_WORDS + 1)
    if #words > MOST_WORDS then return {term = term, size = math.huge} end
    for _, word in ipairs(words) do keys[#keys + 1] = key_of(word) end
  end
  for _, key in ipairs(keys) do
    if not known[key] then
      known[key], sizes[key] = true, redis.call('SCARD', key)
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
  for _, slug in ipairs(term.groups) do
    if string.find(groups, ',' .. slug .. ',', 1, true) then return true end
  end
  return false
end

-- Return the ids that are in any of the sets, or those that are in none, in their order.
local function among(sets, ids, wanted_inside)
  local kept = {}
  for first = 1, #ids, VALUES_AT_ONCE do
    local last, inside = math.min(first + VALUES_AT_ONCE - 1, #ids), {}
    for _, key in ipairs(sets) do
      for n, met in ipairs(redis.call('SMISMEMBER', key, unpack(ids, first, last))) do
        if met == 1 then inside[n] = true end
      end
    end
    for n = 1, last - first + 1 do
      if (inside[n] or false) == wanted_inside then kept[#kept + 1] = ids[first + n - 1] end
    end
  end
  return kept
end

local function by_text(ids, wanted_terms)
  if #wanted_terms == 0 then return ids end
  local kept = {}
  read = read + #ids
  for _, id in ipairs(ids) do
    local hash = of_comments and prefix .. 'comment:' .. id or prefix .. 'article:' .. id
    local words, groups = unpack(redis.call('HMGET', hash, 'words', 'groups'))
    local ok = true
    words, groups = words or '', ',' .. (groups or '') .. ','
    for _, term in ipairs(wanted_terms) do ok = ok and meets(term, words, groups) end
    if ok then kept[#kept + 1] = id end
  end
  return kept
end

-- Return whether comments on an article are found: it is listed, in the wanted group, and in no hidden one.
local function is_wanted(article, hidden)
  local title, groups, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. article, 'title', 'groups', 'removed'))
  if not title or removed then return false end
  local is_inside = query.group == ''
  for slug in string.gmatch(groups or '', '[^,]+') do
    if hidden[slug] then return false end
    is_inside = is_inside or slug == query.group
  end
  return is_inside
end

-- Return the comments on such articles, of which each is read once.
local function on_wanted_articles(ids)
  local kept, hidden, known = {}, {}, {}
  for _, slug in ipairs(query.hidden) do hidden[slug] = true end
  for _, id in ipairs(ids) do
    local article = string.sub(id, 1, -#tostring(COMMENTS_PER_ARTICLE))
    if known[article] == nil then known[article] = is_wanted(article, hidden) end
    if known[article] then kept[#kept + 1] = id end
  end
  return kept
end

-- Return the ids that are in no hidden group. If many groups are hidden, an article's own groups are fewer.
local function shown(ids)
  if of_comments then return on_wanted_articles(ids) end
  local sets, hidden, kept = {}, {}, {}
  for n, slug in ipairs(query.hidden) do sets[n], hidden[slug] = prefix .. 'group:' .. slug, true end
  if #sets == 0 or #ids == 0 then return ids end
  if #sets <= FEW_HIDDEN then return among(sets, ids, false) end
  for _, id in ipairs(ids) do
    local seen = true
    for slug in string.gmatch(redis.call('HGET', prefix .. 'article:' .. id, 'groups') or '', '[^,]+') do
      seen = seen and not hidden[slug]
    end
    if seen then kept[#kept + 1] = id end
  end
  return kept
end

-- Return the ids that match all terms but `met`, which they are known to match, and are in no hidden group.
local function verified(ids, met)
  local others = {}
  for _, one in ipairs(terms) do
    if one == met then -- nothing to look at
    elseif one.by_sets then ids = #ids > 0 and among(one.sets, ids, true) or ids
    else others[#others + 1] = one.term end
  end
  return shown(by_text(ids, others))
end

local function values_of(ids)
  local values = {}
  for first = 1, #ids, VALUES_AT_ONCE do
    local part = redis.call('ZMSCORE', KEYS[1], unpack(ids, first, math.min(first + VALUES_AT_ONCE - 1, #ids)))
    for n, value in ipairs(part) do values[first + n - 1] = value end
  end
  return values
end

local function is_better(a, b)
  if a[3] ~= b[3] then return a[3] > b[3] end
  return a[1] > b[1]
end

-- Return the ids that are ranked, best first, as the ranking orders: by value, then by the bytes of the id.
local function answer(status, number, ids)
  local best, values, ranked, worst = {}, values_of(ids), 0, nil
  local function cut()
    table.sort(best, is_better)
    for n = #best, wanted + 1, -1 do best[n] = nil end
    worst = #best == wanted and best[wanted] or nil
  end
  for n, id in ipairs(ids) do
    if values[n] then
      local one = {id, values[n], tonumber(values[n])}
      ranked = ranked + 1
      if not worst or is_better(one, worst) then best[#best + 1] = one end
      if #best > 2 * wanted + 100 then cut() end
    end
  end
  cut()
  local reply = {status, number or ranked}
  for _, one in ipairs(best) do reply[#reply + 1], reply[#reply + 2] = one[1], one[2] end
  return reply
end

local function walk()
  local found, at, ended = {}, start, false
  while at < start + step and #found < wanted and read < MOST_TEXTS and not ended do
    local ids = redis.call('ZREVRANGE', KEYS[1], at, at + AT_ONCE - 1)
    ended, at = #ids < AT_ONCE, at + AT_ONCE
    for _, id in ipairs(verified(ids)) do found[#found + 1] = id end
  end
  if ended and start == 0 then return answer('all', nil, found) end
  local reply, values = {'some', ended and -1 or at}, values_of(found)
  for n, id in ipairs(found) do
    if values[n] then reply[#reply + 1], reply[#reply + 2] = id, values[n] end
  end
  return reply
end

-- Return every choice of one set per term, and the terms without sets; nil if there are too many choices.
local function choices()
  local all, others = {{}}, {}
  for _, one in ipairs(terms) do
    if not one.sets then others[#others + 1] = one.term
    elseif #all * #one.sets > MOST_INTERSECTIONS then return nil
    else
      local longer = {}
      for _, keys in ipairs(all) do
        for _, key in ipairs(one.sets) do longer[#longer + 1] = {key, unpack(keys)} end
      end
      all = longer
    end
  end
  return all, others
end

-- Return all matches by intersection; nil if that is too much work, or there are too many.
local function meet()
  local all, others = choices()
  if not all or driver.size == math.huge then return nil end
  local most = #others > 0 and MOST_TEXTS or MOST_MET
  if #terms - #others == 1 and driver.size > most then return nil end
  local work, ids, known = 0, {}, {}
  for _, keys in ipairs(all) do
    local least = math.huge
    for _, key in ipairs(keys) do least = math.min(least, sizes[key]) end
    work = work + least
  end
  if work > MOST_INTERSECTED then return nil end
  for _, keys in ipairs(all) do
    local found = redis.call('SINTER', unpack(keys))
    if #found > most then return nil end
    for _, id in ipairs(found) do
      if not known[id] then known[id], ids[#ids + 1] = true, id end
    end
    if #ids > most then return nil end
  end
  return shown(by_text(ids, others))
end

for n, term in ipairs(query.terms) do
  terms[n] = prepared(term)
  if terms[n].size == 0 then return {'all', 0} end
  if not driver or terms[n].size < driver.size then driver = terms[n] end
end
-- Return whether walking will hardly find enough, estimated as if the terms were independent.
local function is_rare_together()
  local all = redis.call('ZCARD', KEYS[1])
  local expected = math.min(step, all)
  for _, one in ipairs(terms) do expected = expected * math.min(1, one.size / math.max(1, all)) end
  return start == 0 and expected < wanted / 4
end

local ids
if driver.size <= few then
  ids = meet() or verified(redis.call('SUNION', unpack(driver.sets)), driver)
elseif ARGV[5] == 'meet' or ARGV[5] == 'walk' and is_rare_together() then
  ids = meet()
elseif ARGV[5] == 'sample' and driver.sets then
  local some = redis.call('SSCAN', driver.sets[1], 0, 'COUNT', math.ceil(few / 4))[2]
  for n = #some, math.ceil(few / 4) + 1, -1 do some[n] = nil end
  return answer('some', start, verified(some))
end
return ids and answer('all', nil, ids) or walk()
