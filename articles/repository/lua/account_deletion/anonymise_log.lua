--[[
Replace a member's name in some entries of a shard's moderation log, oldest first, and in the first step in the history of
parameters. What was done and why is kept. Idempotent.
KEYS  1 log  2 history of parameters  3 ranking parameters
ARGV  1 name  2 replacement  3 entries already examined  4 entries in this step
Returns  {entries examined so far, '' once all are; entries changed}
Cost  O(step + history)
TOUCHES  ranking: rw, log: rw, tunings: rw
]]
local name, replacement, done, step = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local changed = 0

-- Entries are counted from the end: new ones at the front do not shift them.
local function anonymise(list, first, last)
  local entries = redis.call('LRANGE', list, -last, -first)
  for n, text in ipairs(entries) do
    local is_json, entry = pcall(cjson.decode, text)
    local is_subject = is_json and type(entry) == 'table' and names_member(entry) and entry.title == name
    if is_json and type(entry) == 'table' and (entry.actor == name or is_subject) then
      if entry.actor == name then entry.actor = replacement end
      if is_subject then entry.title = replacement end
      changed = changed + 1
      redis.call('LSET', list, n - 1 - math.min(last, redis.call('LLEN', list)), cjson.encode(entry))
    end
  end
  return #entries
end

if done == 0 then
  local versions = redis.call('LLEN', KEYS[2])
  if versions > 0 then anonymise(KEYS[2], 1, versions) end  -- Redis takes no index of -0
  if redis.call('HGET', KEYS[3], 'next_actor') == name then redis.call('HSET', KEYS[3], 'next_actor', replacement) end
end
local examined = anonymise(KEYS[1], done + 1, done + step)
return {examined == step and tostring(done + step) or '', changed}
