--[[
Read a part of a ranking. A group's, and a span's, is made where it is not there. Where the store takes no writes, the
part is worked out without it.
KEYS  1 ranking  2 ranking parameters  3 group; the ranking again where it is no group's  4 ranking of all articles by
      which a group's is made  5 titles of groups, where one is wanted
ARGV  1 shard prefix  2 first entry, counted from 0, best first  3 last entry  4 span (day|week|month), or ''
      5 since when, s, or ''  6 life of a ranking that is made, s  7 how many articles are few  8 most entries of the ranking
      of all articles that are walked past  9 slug of the group whose title is wanted
Returns  {how many entries it has, {id, value, id, value …}, {version, refreshed at}, title}
Cost  O(log N + entries); O(few · log few) where few are to be ranked first, O(walked) where more are, and
      O(group · log group) for a part that lies deeper
TOUCHES  score: r, time: r, points: r, top:<span> rw, group:<slug> r, score:<slug> rw, time:<slug> rw,
         points:<slug> rw, hot:score r, hot:score:<slug> rw, ranking: rw, groups: r
INCLUDE  open_ranking
]]
local count, part = open_ranking({
  prefix = ARGV[1], ranking = KEYS[1], group = KEYS[3] ~= KEYS[1] and KEYS[3], whole = KEYS[4], life = ARGV[6],
  span = ARGV[4] ~= '' and ARGV[4], since = ARGV[5], few = tonumber(ARGV[7]), walked = tonumber(ARGV[8]),
})
local entries, refused = part(tonumber(ARGV[2]), tonumber(ARGV[3]))
if refused then return refused end
local title = KEYS[5] and redis.call('HGET', KEYS[5], ARGV[9])
return {count(), entries, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), title}
