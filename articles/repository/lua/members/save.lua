--[[
Save an article for later, in the member's own list.
KEYS  1 saved articles of the member
ARGV  1 id  2 now, s  3 most articles that a member may save
Returns  {"ok"} | {"full"}
Cost  O(log N)
TOUCHES  saved:<user> rw
]]
local saved = KEYS[1]

if not redis.call('ZSCORE', saved, ARGV[1]) and redis.call('ZCARD', saved) >= tonumber(ARGV[3]) then
  return {'full'}
end
redis.call('ZADD', saved, 'NX', ARGV[2], ARGV[1])
return {'ok'}
