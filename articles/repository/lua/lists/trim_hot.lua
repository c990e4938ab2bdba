--[[
Drop the entries of a shard's hot list that are colder than the last entry of the whole list. Does nothing if the list
was rescored since that entry was found. Idempotent.
KEYS  1 hot list  2 ranking parameters
ARGV  1 shard prefix  2 hotness of the last entry to keep  3 version and  4 moment of the scoring it is from
Returns  number of entries left
Cost  O(dropped · log list)
TOUCHES  article:<id> r, hot:score rw, hot:score:<slug> rw, ranking: r
]]
local list, prefix = KEYS[1], ARGV[1]
local version, moment = unpack(redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'))
if version ~= ARGV[3] or moment ~= ARGV[4] then return redis.call('ZCARD', list) end

drop_from_hot(prefix, redis.call('ZRANGEBYSCORE', list, '-inf', '(' .. ARGV[2]))
return redis.call('ZCARD', list)
