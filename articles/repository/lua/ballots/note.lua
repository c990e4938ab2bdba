--[[
Note which articles have a ballot record, but none whose votes were moved since they were read. Idempotent.
KEYS  1… articles
ARGV  1… of the record of each: version, votes, opposes
Returns  {number of articles that differ from their record}
Cost  O(articles)
TOUCHES  article:<id> rw
INCLUDE  none
]]
local differing = 0
for n, article in ipairs(KEYS) do
  local version, votes, opposes = unpack(ARGV, 3 * n - 2, 3 * n)
  local counts = redis.call('HMGET', article, 'votes', 'opposes')
  if counts[1] == votes and counts[2] == opposes then redis.call('HSET', article, 'ballots', version)
  elseif counts[1] then differing = differing + 1 end
end
return {differing}
