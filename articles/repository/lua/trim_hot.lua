--[[
Take out of a shard's hot list what is colder than the last of the whole list, unless the list was scored anew
since that was found out. Idempotent.
KEYS  1 hot list  2 ranking parameters
ARGV  1 shard prefix  2 hotness of the last that stays  3 version and  4 moment it was scored for
Returns  how many are left
Cost  O(taken out · log list)
]]
local list, prefix = KEYS[1], ARGV[1]
local version, moment = unpack(redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'))
if version ~= ARGV[3] or moment ~= ARGV[4] then return redis.call('ZCARD', list) end

local ids, groups = redis.call('ZRANGEBYSCORE', list, '-inf', '(' .. ARGV[2]), {}
for n, id in ipairs(ids) do
  local found = redis.pcall('HGET', prefix .. 'article:' .. id, 'groups')
  groups[n] = type(found) == 'string' and split(found) or {}
end
for n, id in ipairs(ids) do
  redis.call('ZREM', list, id)
  for _, slug in ipairs(groups[n]) do redis.call('ZREM', prefix .. OF_GROUP.hot .. slug, id) end
end
return redis.call('ZCARD', list)
