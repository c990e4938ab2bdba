--[[
Find out which articles a member saved. Reads only. A damaged list counts as empty.
KEYS  1 saved articles of the member
ARGV  1… ids
Returns  {1 | 0 …}, one for each id
Cost  O(ids)
TOUCHES  saved:<user> r
]]
return saved_among(KEYS[1], ARGV)
