--[[
Read articles with their views, and a member's choices on them. Reads only. A damaged key counts as empty.
KEYS  1 ranking parameters  and for each article: its hash, views, visitors; for a member also voters, opposers
ARGV  1 user, or ''  2… fields of the hash
Returns  {{weight of a vote, voting window}, {field, field …}, views, visitors, voted, opposed, and so on for each};
         the last two only for a member
Cost  O(articles)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, counter:views:<id> r, hll:uv:<id> r, ranking: r
]]
local user = ARGV[1]
local width = user == '' and 3 or 5
local reply = {redis.call('HMGET', KEYS[1], 'seconds_per_point', 'voting_window')}

local function add(value, instead)
  reply[#reply + 1] = type(value) == 'table' and value.err and instead or value
end

for at = 2, #KEYS, width do
  add(redis.pcall('HMGET', KEYS[at], unpack(ARGV, 2)), {})
  add(redis.pcall('GET', KEYS[at + 1]), '')
  add(redis.pcall('PFCOUNT', KEYS[at + 2]), 0)
  for set = at + 3, at + width - 1 do add(redis.pcall('SISMEMBER', KEYS[set], user), 0) end
end
return reply
