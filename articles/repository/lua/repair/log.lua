--[[
Note in articles' hashes which entries of the moderation log are about them, from the oldest on. Idempotent.
KEYS  1 log
ARGV  1 shard prefix  2 entries that were looked at  3 entries in this step
Returns  {how many entries there were}
Cost  O(step + entries known to its articles)
TOUCHES  article:<id> rw, log: r
INCLUDE  moderation_log, values
]]
local unnoted, entries = unnoted_entries(ARGV[1], KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
for _, entry in ipairs(unnoted) do
  local _, article, missing = unpack(entry)
  if #missing > 0 then
    local known = missing
    for _, noted in ipairs(split(redis.call('HGET', article, 'log'))) do known[#known + 1] = tonumber(noted) end
    table.sort(known)
    redis.call('HSET', article, 'log', table.concat(known, ','))
  end
end
return {entries}
