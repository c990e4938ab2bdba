--[[
Count the articles of a list, and those of them that a reader hides; neither where that would take long. Reads only.
KEYS  1 ranking of the list; of groups, that of all articles  2 time ranking
ARGV  1 shard prefix  2 only articles posted since, s, or ''  3 1 if the ranking, if it exists, has no others, or 0
      4 groups of the list  5 hidden groups  6 posters whose articles are hidden  7 hidden articles
      8 member whose read articles are hidden, or ''; all lists comma-separated
Returns  {articles of several groups; -1 where the ranking has no others, articles that are hidden}
         | {-1, 0} if these groups, hidden ones and hidden posters have more than MOST_PAGED
Cost  O(hidden), and O(articles of the groups) of several, up to O(MOST_PAGED)
TOUCHES  posted:<user> r, visits:<user> r, <order>: r, top:<period> r, group:<slug> r
]]
local places, prefix, since, is_span, groups = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', split(ARGV[4])
local hidden_groups, posters, of_several = split(ARGV[5]), split(ARGV[6]), #groups > 1 and groups or {}
if is_span and redis.call('EXISTS', places) == 1 then since = nil elseif is_span then places = KEYS[2] end

-- Return how many of these articles are on the list, and in one of these groups, if any.
local function count(ids, within)
  local found = 0
  in_batches(ids, function(...)
    local values, times, inside = redis.call('ZMSCORE', places, ...), since and redis.call('ZMSCORE', KEYS[2], ...), {}
    for _, slug in ipairs(within) do
      for n, is_in in ipairs(redis.call('SMISMEMBER', prefix .. 'group:' .. slug, ...)) do inside[n] = inside[n] or is_in == 1 end
    end
    for n, value in ipairs(values) do
      local is_recent = not times or tonumber(times[n] or 0) >= since
      if value and is_recent and (#within == 0 or inside[n]) then found = found + 1 end
    end
  end)
  return found
end

local size = 0
for _, slug in ipairs(of_several) do size = size + redis.call('SCARD', prefix .. 'group:' .. slug) end
for _, slug in ipairs(hidden_groups) do size = size + redis.call('SCARD', prefix .. 'group:' .. slug) end
for _, poster in ipairs(posters) do size = size + redis.call('ZCARD', prefix .. 'posted:' .. poster) end
if size > MOST_PAGED then return {-1, 0} end  -- as many take 4 ms
local hidden, hide = distinct()
for _, slug in ipairs(hidden_groups) do hide(redis.call('SMEMBERS', prefix .. 'group:' .. slug)) end
for _, poster in ipairs(posters) do hide(redis.call('ZRANGE', prefix .. 'posted:' .. poster, 0, -1)) end
hide(split(ARGV[7]))
if ARGV[8] ~= '' then hide(redis.call('HKEYS', prefix .. 'visits:' .. ARGV[8])) end
local listed, list = distinct()
for _, slug in ipairs(of_several) do list(redis.call('SMEMBERS', prefix .. 'group:' .. slug)) end
return {#groups > 1 and count(listed, {}) or -1, count(hidden, groups)}
