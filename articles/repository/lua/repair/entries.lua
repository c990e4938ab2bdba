--[[
Remove from an article's hash those of some log entries that do not concern it. Idempotent.
KEYS  1 article  2 log
ARGV  1 id  2 shard prefix  3… numbers of entries
Returns  {number of entries removed}
Cost  O(entries), plus O(all entries of the article) if one is removed
TOUCHES  article:<id> rw, log: r
INCLUDE  moderation_log, values
]]
local article, wrong, count = KEYS[1], {}, 0
for at = 3, #ARGV do
  if not is_about(ARGV[2], ARGV[at], ARGV[1]) then wrong[ARGV[at]], count = true, count + 1 end
end
if count > 0 then
  local right = {}
  for _, number in ipairs(split(redis.call('HGET', article, 'log'))) do
    if not wrong[number] then right[#right + 1] = number end
  end
  if #right == 0 then redis.call('HDEL', article, 'log')
  else redis.call('HSET', article, 'log', table.concat(right, ',')) end
end
return {count}
