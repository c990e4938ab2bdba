--[[
Put a removed article back into every list it belongs to, and log it; with a sweep, only if that sweep removed it.
KEYS  1 article
ARGV  1 id  2 moderator  3 now, s  4 reason  5 shard prefix  6 size of the hot list  7 sweep, or ''
Returns  {"ok", title, link, text, posting time} | {"missing"} | {"not_removed"} | {"merged_away"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw, removed: rw, group:<slug> rw,
         <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r, log: rw
]]
local article, id, prefix = KEYS[1], ARGV[1], ARGV[5]

local title, link, text, time, votes, opposes, left_out, groups, removed, merged, sweep = unpack(redis.call('HMGET',
  article, 'title', 'link', 'text', 'time', 'votes', 'opposes', 'left_out', 'groups', 'removed', 'merged', 'sweep'))
if not (title and as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
if not removed or ARGV[7] ~= '' and sweep ~= ARGV[7] then return {'not_removed'} end
if merged then return removal(merged) end
local current = parameters(prefix)

list_article(prefix, id, tonumber(time), votes, opposes, left_out, split(groups), current, tonumber(ARGV[6]))
redis.call('HDEL', article, 'removed', 'sweep')
redis.call('ZREM', prefix .. 'removed:', id)
log_article(prefix, 'restore', ARGV[3], ARGV[2], id, title, ARGV[4], {})
return {'ok', title, link or '', text or '', time}
