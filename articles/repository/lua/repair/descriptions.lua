--[[
Drop the descriptions of groups that do not exist. Idempotent.
KEYS  1 groups  2 descriptions
ARGV  none
Returns  {"ok"}
Cost  O(groups)
TOUCHES  groups: r, descriptions: rw
]]
for _, slug in ipairs(redis.call('HKEYS', KEYS[2])) do
  if redis.call('HEXISTS', KEYS[1], slug) == 0 then redis.call('HDEL', KEYS[2], slug) end
end
return {'ok'}
