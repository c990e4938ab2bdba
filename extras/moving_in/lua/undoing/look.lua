--[[
Look for what others did with an article since an import brought it, among some of its comments. Reads only.
KEYS  1 article
ARGV  1 id  2 shard prefix  3 since when, s  4 number of the comment to continue from, 0 at first  5 most comments and voters
Returns  {"ok", number to continue from, 0 at the end, act …} | {"missing", 1 if comments of it are left, else 0}
Cost  O(comments + voters), bounded by 5
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, comment:<comment> r, comment:voted:<comment> r,
         comment:oppose:<comment> r, replies:time:<comment> r, flags:<comment> r, votes:<user> r, opposes:<user> r, log: r
]]
local id, prefix = ARGV[1], ARGV[2]
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'missing', redis.call('EXISTS', prefix .. 'replies:time:' .. root_of(id))}
end
local acts = acts_since(prefix, id, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
table.insert(acts, 1, 'ok')
return acts
