--[[
Return which keys of a shard have changed since the last time. Until they are forgotten, they are returned again.
KEYS  1 changed keys  2 those taken before
ARGV  none
Returns  names of keys
Cost  O(changed)
TOUCHES  changed: rw, taken: rw
INCLUDE  none
]]
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
  redis.call('RENAME', KEYS[1], KEYS[2])
else
  redis.call('SUNIONSTORE', KEYS[2], KEYS[1], KEYS[2])
  redis.call('DEL', KEYS[1])
end
return redis.call('SMEMBERS', KEYS[2])
