--[[
Take out of a shard's hot list what is colder than the last of the whole list, unless the list was scored anew
since that was found out. Idempotent.
KEYS  1 hot list  2 ranking parameters
ARGV  1 shard prefix  2 hotness of the last that stays  3 version and  4 moment it was scored for
Returns  how many are left
Cost  O(taken out · log list)
TOUCHES  article:<id> r, hot:score rw, hot:score:<slug> rw, ranking: r
INCLUDE  hot_list
]]
local list, prefix = KEYS[1], ARGV[1]
local version, moment = unpack(redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'))
if version ~= ARGV[3] or moment ~= ARGV[4] then return redis.call('ZCARD', list) end

drop_from_hot(prefix, redis.call('ZRANGEBYSCORE', list, '-inf', '(' .. ARGV[2]))
return redis.call('ZCARD', list)
