--[[
Check some of the log entries that an article with many of them claims. Reads only.
KEYS  1 log
ARGV  1 id  2 shard prefix  3… numbers of entries
Returns  {problem, …}
Cost  O(entries)
TOUCHES  log: r
INCLUDE  moderation_log
]]
local findings = {}
for at = 3, #ARGV do
  if not is_about(ARGV[2], ARGV[at], ARGV[1]) then findings[#findings + 1] = misplaced_entry(ARGV[at]) end
end
return findings
