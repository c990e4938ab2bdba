--[[
Read some voters of a merged article, or those who opposed it, each with when. Reads only. None where its voters are no
longer known.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 choice (vote|oppose)  3 cursor of the set; 0 at the beginning  4 voters in this step  5 shard prefix
Returns  {cursor, 0 at the end, user, when, s, user, when …}
Cost  O(step)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, votes:<user> r, opposes:<user> r
]]
local id, prefix = ARGV[1], ARGV[5]
local time, votes, opposes = unpack(redis.call('HMGET', KEYS[1], 'time', 'votes', 'opposes'))
if redis.call('SCARD', KEYS[2]) ~= tonumber(votes or '') or redis.call('SCARD', KEYS[3]) ~= tonumber(opposes or '') then
  return {'0'}
end
local n = ARGV[2] == 'vote' and 1 or 2
local cursor, users = unpack(redis.call('SSCAN', KEYS[n + 1], ARGV[3], 'COUNT', ARGV[4]))
local reply = {cursor}
for _, user in ipairs(users) do
  reply[#reply + 1] = user
  reply[#reply + 1] = redis.call('ZSCORE', prefix .. CHOICES[n].list .. user, id) or time
end
return reply
