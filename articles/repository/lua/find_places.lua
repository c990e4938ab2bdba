--[[
Where an article stands, or would stand, among a shard's articles. Keeps its groups' rankings that exist.
KEYS  1 ranking parameters  2 score ranking  3 hot list
ARGV  1 shard prefix  2 id  3 score  4 score it would have with one more vote  5 hotness, or ''
      6 life of a group's ranking, s  7… slugs of its groups
Returns  {version, refreshed at, place by 3, by 4, by 5, in each group by 3}, a place being {how many stand
         above it, how many there are, next above it, its value, next below it, its value}; '' where there is none
         and -1 above it where a group's ranking has to be made first
Cost  O(groups · log² N)
]]
local prefix, id, life = ARGV[1], ARGV[2], ARGV[6]

-- A ranking orders by value, then by id. Ids are digits, which every collation of Lua's `>` orders by their bytes.
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

local answer = redis.call('HMGET', KEYS[1], 'version', 'refreshed_at')
answer[3], answer[4], answer[5] = place(KEYS[2], ARGV[3]), place(KEYS[2], ARGV[4]), place(KEYS[3], ARGV[5])
for n = 7, #ARGV do
  local ranking = prefix .. OF_GROUP.score .. ARGV[n]
  local cold = redis.call('EXPIRE', ranking, life) == 0 and redis.call('EXISTS', prefix .. 'group:' .. ARGV[n]) == 1
  answer[#answer + 1] = cold and {-1, 0, '', '', '', ''} or place(ranking, ARGV[3])
end
return answer
