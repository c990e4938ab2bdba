--[[
Take out of what an article knows of the moderation log those of some entries that are not about it. Idempotent.
KEYS  1 article  2 log
ARGV  1 id  2 shard prefix  3… numbers of entries
Returns  {how many were taken out}
Cost  O(entries), and O(all entries about the article) where one is taken out
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
