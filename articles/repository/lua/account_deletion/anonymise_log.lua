--[[
Take a former member's name off some entries of a shard's moderation log, from the oldest on, and off the history of
parameters. What was done and why stays. Idempotent.
KEYS  1 log  2 history of parameters  3 ranking parameters
ARGV  1 name  2 what stands for it  3 entries that were looked at  4 entries in this step
Returns  {entries that were looked at, '' when all were}
Cost  O(step + history)
TOUCHES  ranking: rw, log: rw, tunings: rw
]]
local name, instead, done, step = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Counted from the end: what is added to the front moves nothing.
local function forget(list, first, last)
  local entries = redis.call('LRANGE', list, -last, -first)
  for n, text in ipairs(entries) do
    local entry = cjson.decode(text)
    if entry.actor == name then
      entry.actor = instead
      redis.call('LSET', list, n - 1 - math.min(last, redis.call('LLEN', list)), cjson.encode(entry))
    end
  end
  return #entries
end

if done == 0 then
  forget(KEYS[2], 1, redis.call('LLEN', KEYS[2]))
  if redis.call('HGET', KEYS[3], 'next_actor') == name then redis.call('HSET', KEYS[3], 'next_actor', instead) end
end
local looked_at = forget(KEYS[1], done + 1, done + step)
return {looked_at == step and tostring(done + step) or ''}
