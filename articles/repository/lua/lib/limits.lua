--[[
Rate limits. The key of a limit holds the moment, in ms, at which all its uses are refilled, and expires then. The same
formula as take() in articles/domain/limits.py.
]]
-- Take one use; return the time to wait for it, 0 if it was taken. `refill` is the time for one use, `capacity` for all
-- of them; all in ms. Without a limit, `refill` is 0.
local function take_use(key, now, refill, capacity)
  if refill == 0 then return 0 end
  local full_at = tonumber(redis.call('GET', key) or '') or 0
  full_at = math.min(math.max(full_at, now), now + capacity) + refill
  local wait = full_at - now - capacity
  if wait > 0 then return wait end
  redis.call('SET', key, string.format('%.0f', full_at), 'PX', full_at - now)
  return 0
end
