--[[
Check that articles know the log entries that concern them, oldest first. Reads only.
KEYS  1 log
ARGV  1 shard prefix  2 entries already examined  3 entries in this step
Returns  {id, problem, id, problem …}
Cost  O(step + entries known to its articles)
TOUCHES  article:<id> r, log: r
INCLUDE  moderation_log
]]
local findings = {}
for _, entry in ipairs((unnoted_entries(ARGV[1], KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])))) do
  local id, _, missing = unpack(entry)
  for _, number in ipairs(missing) do
    findings[#findings + 1], findings[#findings + 2] = id, 'does not know entry ' .. number .. ' of the log'
  end
end
return findings
