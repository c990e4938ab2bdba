--[[
Check some entries of the votes that came with merged articles, of an article that has many. Repairing, forget where those
came from that are not votes on the article. Idempotent.
KEYS  1 article
ARGV  1 id  2 shard prefix  3… entries: member, value
Returns  {problem, …}
Cost  O(entries)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, brought:<id> w
]]
local findings = {}
local function say(text) findings[#findings + 1] = text end
check_brought(say, ARGV[2], ARGV[1], merges_in(redis.call('HGET', KEYS[1], 'merges')), {unpack(ARGV, 3)})
return findings
