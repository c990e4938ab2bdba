--[[
Take back a member's support of the suggestions on some articles, as when the member is banned or deletes the account.
Idempotent.
KEYS  1 articles with suggestions that the member supports
ARGV  1 user id  2 articles in this step  3 shard prefix
Returns  {number of articles}
Cost  O(step · suggestions)
TOUCHES  article:<id> rw, suggested:<user> rw
]]
local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)
for _, id in ipairs(ids) do
  local article = ARGV[3] .. 'article:' .. id
  write_suggestions(article, without_support(all_suggestions(article), ARGV[1]))
  redis.call('ZREM', KEYS[1], id)
end
return {#ids}
