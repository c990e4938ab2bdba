--[[
Check some of the log entries that an article with many of them claims. Repairing, remove those that do not concern it.
Idempotent.
KEYS  1 log
ARGV  1 id  2 shard prefix  3… numbers of entries
Returns  {problem, …}
Cost  O(entries), plus O(all entries of the article) if one is removed
TOUCHES  article:<id> w, log: r
]]
local article, wrong, findings = ARGV[2] .. 'article:' .. ARGV[1], {}, {}
for at = 3, #ARGV do
  if not is_about(ARGV[2], ARGV[at], ARGV[1]) then wrong[ARGV[at]], findings[#findings + 1] = true, misplaced_entry(ARGV[at]) end
end
if REPAIRS and #findings > 0 then
  local right = {}
  for _, number in ipairs(split(redis.call('HGET', article, 'log'))) do
    if not wrong[number] then right[#right + 1] = number end
  end
  note_entries(article, right)
end
return findings
