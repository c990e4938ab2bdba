--[[
Count the articles of a list, and those of them that a reader hides. Reads only.
KEYS  1 ranking of the list; of groups, that of all articles  2 time ranking
ARGV  1 shard prefix  2 only articles posted since, s, or ''  3 1 if the ranking, if it exists, has no others, or 0
      4 groups of the list  5 hidden groups  6 posters whose articles are hidden  7 hidden articles
      8 member whose read articles are hidden, or ''; all lists comma-separated
Returns  {articles of several groups; -1 where the ranking has no others, articles that are hidden}
Cost  O(hidden), and O(articles of the groups) of several
TOUCHES  posted:<user> r, visits:<user> r, <order>: r, top:<period> r, group:<slug> r
]]
local places, prefix, since, is_span, groups = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', split(ARGV[4])
if is_span and redis.call('EXISTS', places) == 1 then since = nil elseif is_span then places = KEYS[2] end

-- Return how many of these articles are on the list.
local function count(ids)
  local found = 0
  in_batches(ids, function(...)
    local batch, values = {...}, redis.call('ZMSCORE', places, ...)
    local times, inside = since and redis.call('ZMSCORE', KEYS[2], ...), {}
    for _, slug in ipairs(groups) do
      for n, is_in in ipairs(redis.call('SMISMEMBER', prefix .. 'group:' .. slug, ...)) do inside[n] = inside[n] or is_in == 1 end
    end
    for n = 1, #batch do
      local is_recent = not times or tonumber(times[n] or 0) >= since
      if values[n] and is_recent and (#groups == 0 or inside[n]) then found = found + 1 end
    end
  end)
  return found
end

-- Return a list of ids, and a function that adds others to it, each once.
local function collecting()
  local list, known = {}, {}
  return list, function(ids)
    for _, id in ipairs(ids) do
      if not known[id] then list[#list + 1], known[id] = id, true end
    end
  end
end

local hidden, hide = collecting()
for _, slug in ipairs(split(ARGV[5])) do hide(redis.call('SMEMBERS', prefix .. 'group:' .. slug)) end
for _, poster in ipairs(split(ARGV[6])) do hide(redis.call('ZRANGE', prefix .. 'posted:' .. poster, 0, -1)) end
hide(split(ARGV[7]))
if ARGV[8] ~= '' then hide(redis.call('HKEYS', prefix .. 'visits:' .. ARGV[8])) end

if #groups < 2 then return {-1, count(hidden)} end
local listed, list = collecting()
for _, slug in ipairs(groups) do list(redis.call('SMEMBERS', prefix .. 'group:' .. slug)) end
return {count(listed), count(hidden)}
