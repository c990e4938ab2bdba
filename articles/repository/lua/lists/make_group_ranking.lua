--[[
Make a group's ranking from the ranking of all articles, if the store takes writes.
KEYS  1 the group's ranking, to be made  2 group  3 ranking of all articles
ARGV  1 life, s
Returns  1 if it was made, else 0
Cost  O(group · log group)
TOUCHES  score: r, group:<slug> r, score:<slug> rw
]]
return make_group(KEYS[1], KEYS[2], KEYS[3], ARGV[1]) and 0 or 1
