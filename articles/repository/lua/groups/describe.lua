--[[
Give a group another description, or none. Idempotent.
KEYS  1 groups
ARGV  1 slug  2 description, or ''  3 moderator  4 now, s  5 reason  6 shard prefix
Returns  {"ok"} | {"no_group"}
Cost  O(1)
TOUCHES  log: rw, groups: r, descriptions: rw
]]
local title, descriptions = redis.call('HGET', KEYS[1], ARGV[1]), ARGV[6] .. 'descriptions:'
if not title then return {'no_group'} end
if (redis.call('HGET', descriptions, ARGV[1]) or '') == ARGV[2] then return {'ok'} end

if ARGV[2] == '' then
  redis.call('HDEL', descriptions, ARGV[1])
else
  redis.call('HSET', descriptions, ARGV[1], ARGV[2])
end
log(ARGV[6], 'describe-group', ARGV[4], ARGV[3], '0', title, ARGV[5], {slug = ARGV[1]})
return {'ok'}
