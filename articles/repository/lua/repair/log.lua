--[[
Note in articles' hashes which log entries concern them, oldest first; where one was missing, drop numbers of entries
that do not concern the article. Idempotent.
KEYS  1 log
ARGV  1 shard prefix  2 entries already examined  3 entries in this step
Returns  {number of entries in this step}
Cost  O(step + entries known to its articles)
TOUCHES  article:<id> rw, log: r
INCLUDE  moderation_log, values
]]
local unnoted, entries = unnoted_entries(ARGV[1], KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
for _, entry in ipairs(unnoted) do
  local id, article, missing = unpack(entry)
  if #missing > 0 then
    local known = missing
    for _, noted in ipairs(split(redis.call('HGET', article, 'log'))) do
      if is_about(ARGV[1], noted, id) then known[#known + 1] = tonumber(noted) end
    end
    table.sort(known)
    redis.call('HSET', article, 'log', table.concat(known, ','))
  end
end
return {entries}
