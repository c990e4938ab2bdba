--[[
Read a part of a ranking. Makes the ranking of a group or a span if it does not exist; where the store refuses writes,
the part is worked out without it.
KEYS  1 ranking  2 ranking parameters  3 group; the ranking again for one of no group  4 ranking of all articles from
      which a group's is made  5 titles of groups, if a title is wanted
ARGV  1 shard prefix  2 first entry, counted from 0, best first  3 last entry  4 span (day|week|month), or ''
      5 where the span begins, s, or ''  6 life of a ranking that is made, s  7 up to how many articles it is made at once
      8 past how many articles of the ranking of all to walk before it is made  9 slug of the group whose title is wanted
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}, title}
Cost  O(log N + entries); if the ranking does not exist, O(few · log few) for few articles, O(walked) for more, and
      O(group · log group) for a part that lies deeper
TOUCHES  <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, ranking: rw, groups: r
]]
local count, part = open_ranking({
  prefix = ARGV[1], ranking = KEYS[1], group = KEYS[3] ~= KEYS[1] and KEYS[3], whole = KEYS[4], life = ARGV[6],
  span = ARGV[4] ~= '' and ARGV[4], since = ARGV[5], few = tonumber(ARGV[7]), walked = tonumber(ARGV[8]),
})
local entries, refused = part(tonumber(ARGV[2]), tonumber(ARGV[3]))
if refused then return refused end
local title = KEYS[5] and redis.call('HGET', KEYS[5], ARGV[9])
return {count(), entries, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), title}
