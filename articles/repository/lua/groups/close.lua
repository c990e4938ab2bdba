--[[
Close a group whose articles have been moved to another one, and redirect its slug there.
KEYS  1 groups  2 merged  3 descriptions
ARGV  1 slug  2 slug of the group it was merged into  3 moderator  4 now, s  5 reason  6 shard prefix
Returns  {"ok"} | {"no_group"}
Cost  O(merged groups)
TOUCHES  log: rw, groups: rw, descriptions: rw, merged: rw
]]
local title = redis.call('HGET', KEYS[1], ARGV[1])
if not title or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return {'no_group'} end

redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
local merged = redis.call('HGETALL', KEYS[2])
for i = 1, #merged, 2 do
  if merged[i + 1] == ARGV[1] then redis.call('HSET', KEYS[2], merged[i], ARGV[2]) end
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
log(ARGV[6], 'merge-groups', ARGV[4], ARGV[3], '0', title, ARGV[5], {slug = ARGV[1], into = ARGV[2]})
return {'ok'}
