--[[
Check that some articles of one shard are in the sets of their groups, and that removed ones are in none: as many articles
as one step can. Reads only.
KEYS  1… articles
ARGV  1 shard prefix  2 the groups to look at, separated by commas; * for all  3 most sets to look into
Returns  {number of articles checked, {id, problem, id, problem …}}
Cost  O(groups), bounded by 3
TOUCHES  article:<id> r, group:<slug> r
]]
local prefix, wanted, most, examined, checked, findings = ARGV[1], ARGV[2], tonumber(ARGV[3]), 0, 0, {}
local is_wanted = {}
for _, slug in ipairs(split(wanted)) do is_wanted[slug] = true end

-- Articles that are not whole have findings of their own.
local function is_whole_article(article)
  return is_whole(unpack(redis.call('HMGET', article, 'title', 'link', 'poster', 'poster_name', 'time', 'votes', 'opposes',
    'groups', 'archived')))
end

for _, article in ipairs(KEYS) do
  local id = string.match(article, '%d+$')
  local groups, removed = unpack(redis.call('HMGET', article, 'groups', 'removed'))
  for _, slug in ipairs(split(groups)) do
    if is_wanted[slug] or wanted == '*' then
      examined = examined + 1
      local there = redis.call('SISMEMBER', prefix .. 'group:' .. slug, id) == 1
      if there == (removed and true or false) and is_whole_article(article) then
        findings[#findings + 1], findings[#findings + 2] = id, (removed and 'removed, but in ' or 'not in ') .. slug
      end
    end
  end
  checked, examined = checked + 1, examined + 1
  if examined > most then break end
end
return {checked, findings}
