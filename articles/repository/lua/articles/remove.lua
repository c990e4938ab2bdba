--[[
Take an article out of every list, decide its flags, and log the removal. Its hash, counts and groups stay, so it can be
restored.
KEYS  1 article
ARGV  1 id  2 moderator  3 now, s  4 reason  5 shard prefix  6 root of its comments
Returns  {"ok"} | {"missing"} | {"removed"}
Cost  O((groups + flags) · log N)
TOUCHES  article:<id> rw, flags:<comment> rw, flagged: rw, flags:by:<user> rw, inbox:<user> rw, gone: r, score: rw,
         time: rw, points: rw, active: rw, top:<period> rw, removed: rw, group:<slug> rw, score:<slug> rw,
         time:<slug> rw, points:<slug> rw, active:<slug> rw, hot:score rw, hot:score:<slug> rw, rings: rw,
         next:score rw, word:<word> rw, words: rw, log: rw
INCLUDE  flags, lists, moderation_log, values, words
]]
local article, id, prefix = KEYS[1], ARGV[1], ARGV[5]

local title, time, groups, removed, words =
  unpack(redis.call('HMGET', article, 'title', 'time', 'groups', 'removed', 'words'))
if not (title and as_time(time)) then return {'missing'} end
if removed then return {'removed'} end

redis.call('HSET', article, 'removed', ARGV[4])
redis.call('HDEL', article, 'ring')
unlist_article(prefix, id, split(groups))
leave_words(prefix, id, words)
redis.call('ZADD', prefix .. 'removed:', time, id)
decide_flags(prefix, ARGV[6], 'removed', math.huge)
log_article(prefix, 'remove', ARGV[3], ARGV[2], id, title, ARGV[4], {})
return {'ok'}
