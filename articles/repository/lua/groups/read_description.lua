--[[
Read the description of a group. Reads only. A damaged key has none.
KEYS  1 descriptions
ARGV  1 slug
Returns  the description, in Markdown; '' without one
Cost  O(1)
TOUCHES  descriptions: r
INCLUDE  none
]]
local text = redis.pcall('HGET', KEYS[1], ARGV[1])
return type(text) == 'string' and text or ''
