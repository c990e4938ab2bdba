--[[
Read some articles on a member's list of posted articles in one shard, oldest first. Reads only.
KEYS  1 articles that the member posted
ARGV  1 shard prefix  2 first one, from 0  3 number of articles
Returns  {id, title, link, poster's name, …} of each; an entry without article has '' for all
Cost  O(log N + articles)
TOUCHES  article:<id> r, posted:<user> r
]]
local reply = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[2] + ARGV[3] - 1)) do
  local title, link, name = unpack(redis.call('HMGET', ARGV[1] .. 'article:' .. id, 'title', 'link', 'poster_name'))
  for _, value in ipairs({id, title or '', link or '', name or ''}) do reply[#reply + 1] = value end
end
return reply
