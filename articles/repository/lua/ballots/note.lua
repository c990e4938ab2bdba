--[[
Note which articles have a ballot record, but none whose votes were moved since they were read. Idempotent.
KEYS  1… articles
ARGV  1… of the record of each: version, and what it was made of: votes, opposes, merges or ''
Returns  {number of articles that differ from their record}
Cost  O(articles)
TOUCHES  article:<id> rw
]]
local differing = 0
for n, article in ipairs(KEYS) do
  local version, votes, opposes, merges = unpack(ARGV, 4 * n - 3, 4 * n)
  local now = redis.call('HMGET', article, 'votes', 'opposes', 'merges')
  if now[1] == votes and now[2] == opposes and (now[3] or '') == merges then redis.call('HSET', article, 'ballots', version)
  elseif now[1] then differing = differing + 1 end
end
return {differing}
