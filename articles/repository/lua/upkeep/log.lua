--[[
Check that articles know the log entries that concern them, oldest first. Repairing, note those that are missing, and drop
from the same articles what does not concern them. Idempotent.
KEYS  1 log
ARGV  1 shard prefix  2 entries already examined  3 entries in this step
Returns  {number of entries in this step, {id, problem, id, problem …}}
Cost  O(step + entries known to its articles)
TOUCHES  article:<id> rw, log: r
]]
local findings, articles, entries = {}, unnoted_entries(ARGV[1], KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
for _, one in ipairs(articles) do
  local id, article, missing = unpack(one)
  for _, number in ipairs(missing) do
    findings[#findings + 1], findings[#findings + 2] = id, 'does not know entry ' .. number .. ' of the log'
  end
  if REPAIRS and #missing > 0 then
    local known = missing
    for _, noted in ipairs(split(redis.call('HGET', article, 'log'))) do
      if is_about(ARGV[1], noted, id) then known[#known + 1] = tonumber(noted) end
    end
    table.sort(known)
    note_entries(article, known)
  end
end
return {entries, findings}
