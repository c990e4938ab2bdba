--[[
Take an article that is merged into another one out of every list, and log it. Its hash, counts, voters, flags and comments
stay. Idempotent.
KEYS  1 article
ARGV  1 id  2 name of the moderator  3 now, s  4 reason  5 shard prefix  6 id of the article into which it is merged
Returns  {"ok"} | {"missing"} | {"removed"} | {"merged_away"} | {"has_merges"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, flagged: rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw, removed: rw, group:<slug> rw,
         <order>:<slug> rw, rings: rw, next:score rw, changes: rw, log: rw
]]
local article, id, prefix, into = KEYS[1], ARGV[1], ARGV[5], ARGV[6]

local title, time, groups, removed, merged, merges =
  unpack(redis.call('HMGET', article, 'title', 'time', 'groups', 'removed', 'merged', 'merges'))
if not (title and as_time(time)) then return {'missing'} end
if merged == into then return {'ok'} end
if merged then return {'merged_away'} end
if removed then return {'removed'} end
if merges then return {'has_merges'} end

redis.call('HSET', article, 'removed', ARGV[4], 'merged', into)
unlist_article(prefix, id, split(groups))
note_changed(prefix, id)
redis.call('ZADD', prefix .. 'removed:', time, id)
redis.call('ZREM', prefix .. 'flagged:', root_of(id))
log_article(prefix, 'merge', ARGV[3], ARGV[2], id, title, ARGV[4], {target = into})
return {'ok'}
