--[[
Read articles with their views, and a member's choices on them. Reads only. A damaged key counts as empty.
KEYS  1 ranking parameters
ARGV  1 shard prefix  2 user, or ''  3 1 to count visitors, or 0  4 number of fields  5… fields of the hash, then ids
Returns  what read_articles() returns
Cost  O(articles)
TOUCHES  article:<id> r, votes:<user> r, opposes:<user> r, visits:<user> r,
         counter:views:<id> r, hll:uv:<id> r, ranking: r
]]
local first_id = 5 + tonumber(ARGV[4])
local fields, ids = {unpack(ARGV, 5, first_id - 1)}, {unpack(ARGV, first_id)}
return read_articles(ARGV[1], KEYS[1], ids, ARGV[2], ARGV[3] == '1', fields)
