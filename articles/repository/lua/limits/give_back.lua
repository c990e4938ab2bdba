--[[
Give back uses of a limit that were taken for nothing.
KEYS  1 limit
ARGV  1 now, ms  2 time that refills the uses, ms
Returns  {"ok"}
Cost  O(1)
TOUCHES  limit:<action>:<subject> rw
]]
local now, refill = tonumber(ARGV[1]), tonumber(ARGV[2])
local full_at = (tonumber(redis.call('GET', KEYS[1]) or '') or 0) - refill
if full_at > now then
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', full_at - now)
else
  redis.call('DEL', KEYS[1])
end
return {'ok'}
