--[[
Put an article that was merged into another one back into every list it belongs to, with its votes and its voting ring, and
log it.
KEYS  1 article
ARGV  1 id  2 name of the moderator  3 now, s  4 reason  5 shard prefix  6 size of the hot list
Returns  {"ok"} | {"missing"} | {"not_merged"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, flags:<comment> r, flagged: rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw,
         removed: rw, group:<slug> rw, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r, rings: rw, next:score rw,
         changes: rw, ranking: r, log: rw
]]
local article, id, prefix = KEYS[1], ARGV[1], ARGV[5]

local title, time, votes, opposes, left_out, groups, merged, ring = unpack(redis.call('HMGET',
  article, 'title', 'time', 'votes', 'opposes', 'left_out', 'groups', 'merged', 'ring'))
if not (title and as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
if not merged then return {'not_merged'} end
local current = parameters(prefix)

list_article(prefix, id, tonumber(time), votes, opposes, left_out, split(groups), current, tonumber(ARGV[6]))
redis.call('HDEL', article, 'removed', 'merged')
redis.call('ZREM', prefix .. 'removed:', id)
local first, _, _, last = ring_facts(ring)
if first then list_ring(prefix, id, last) end
queue_flagged(prefix, root_of(id), flags_of(prefix, root_of(id)))
log_article(prefix, 'unmerge', ARGV[3], ARGV[2], id, title, ARGV[4], {target = merged})
return {'ok'}
