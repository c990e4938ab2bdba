--[[
Read the description of a group. Reads only.
KEYS  1 descriptions
ARGV  1 slug
Returns  the description, in Markdown; '' without one
Cost  O(1)
TOUCHES  descriptions: r
]]
return redis.call('HGET', KEYS[1], ARGV[1]) or ''
