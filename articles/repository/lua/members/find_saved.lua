--[[
Find out which articles a member saved. Reads only. A damaged list counts as empty.
KEYS  1 saved articles of the member
ARGV  1… ids
Returns  {1 | 0 …}, one for each id
Cost  O(ids)
TOUCHES  saved:<user> r
]]
local saved_at = redis.pcall('ZMSCORE', KEYS[1], unpack(ARGV))
local found = {}
for n = 1, #ARGV do found[n] = not saved_at.err and saved_at[n] and 1 or 0 end
return found
