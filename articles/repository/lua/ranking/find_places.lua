--[[
Find an article's place, or the place it would have, among a shard's articles. Keeps its groups' rankings that exist.
A place is {number of articles above, number of articles, next above, its value, next below, its value}, with '' where
there is none. The first number is -1 if a group's ranking must be made first, and -2 if it cannot be made and the place
cannot be worked out cheaply.
KEYS  1 ranking parameters  2 score ranking  3 hot list
ARGV  1 shard prefix  2 id  3 score  4 score with one more vote  5 hotness, or ''
      6 life of a group's ranking, s  7 1 if missing group rankings cannot be made, else 0
      8 up to how many articles a group is ranked here  9 up to how many articles are counted here  10… slugs of its groups
Returns  {version, refreshed at, place by 3, by 4, by 5, in each group by 3}
Cost  O(groups · log² N); O(groups · articles counted) where rankings do not exist and are large or cannot be made
TOUCHES  score: r, group:<slug> r, score:<slug> rw, hot:score r, ranking: r
]]
local prefix, id, life = ARGV[1], ARGV[2], ARGV[6]

-- Return how many articles rank above. A ranking orders by value, then by the bytes of the id; Lua's `>` does the same for
-- ids, which are digits, in every collation.
local function above(ranking, value)
  local low, high = redis.call('ZCOUNT', ranking, '(' .. value, '+inf'), redis.call('ZCOUNT', ranking, value, '+inf')
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('ZREVRANGE', ranking, middle, middle)[1] > id then low = middle + 1 else high = middle end
  end
  return low
end

local function place(ranking, value)
  if value == '' then return {0, 0, '', '', '', ''} end
  local rank = above(ranking, value)
  local found = {rank, redis.call('ZCARD', ranking), '', ''}
  local around = redis.call('ZREVRANGE', ranking, math.max(rank - 1, 0), rank + 1, 'WITHSCORES')
  local at = 1
  if rank > 0 then found[3], found[4], at = around[1], around[2], 3 end
  if around[at] == id then at = at + 2 end
  found[5], found[6] = around[at] or '', around[at + 1] or ''
  return found
end

-- Work out the place in a group whose ranking does not exist, and would be large or cannot be made: count the articles
-- above it, or rank the few of the group.
local function worked_out(group)
  local size, ahead, rank = redis.call('SCARD', group), above(KEYS[2], ARGV[3]), 0
  if ahead <= tonumber(ARGV[9]) then
    for at = 0, ahead - 1, VALUES_AT_ONCE do
      local ids = redis.call('ZREVRANGE', KEYS[2], at, math.min(at + VALUES_AT_ONCE, ahead) - 1)
      for _, inside in ipairs(members_among(group, ids)) do rank = rank + (inside and 1 or 0) end
    end
  elseif size <= tonumber(ARGV[8]) then
    local entries, value = group_entries(group, KEYS[2]), tonumber(ARGV[3])
    local function ranks_above(one, its)
      return one and (tonumber(its) > value or (tonumber(its) == value and one > id))
    end
    while ranks_above(entries[2 * rank + 1], entries[2 * rank + 2]) do rank = rank + 1 end
  else rank = -2 end
  return {rank, size, '', '', '', ''}
end

local function place_in(slug)
  local ranking, group = prefix .. OF_GROUP.score .. slug, prefix .. 'group:' .. slug
  redis.pcall('EXPIRE', ranking, life)
  if redis.call('EXISTS', ranking) == 1 or redis.call('EXISTS', group) == 0 then return place(ranking, ARGV[3]) end
  local counts = redis.call('SCARD', group) > tonumber(ARGV[8]) and above(KEYS[2], ARGV[3]) <= tonumber(ARGV[9])
  return (counts or ARGV[7] == '1') and worked_out(group) or {-1, 0, '', '', '', ''}
end

local answer = redis.call('HMGET', KEYS[1], 'version', 'refreshed_at')
answer[3], answer[4], answer[5] = place(KEYS[2], ARGV[3]), place(KEYS[2], ARGV[4]), place(KEYS[3], ARGV[5])
for n = 10, #ARGV do answer[#answer + 1] = place_in(ARGV[n]) end
return answer
