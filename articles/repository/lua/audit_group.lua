--[[
Check some members of one group, or the group's rankings where they exist. Reads only.
KEYS  1 group
ARGV  1 shard prefix  2 slug  3… ids of members; none for the rankings
Returns  {what is wrong, …}
Cost  O(ids), or O(group · log N) for each ranking that exists
]]
local prefix, slug = ARGV[1], ARGV[2]
local findings = {}

for at = 3, #ARGV do
  local groups = redis.call('HGET', prefix .. 'article:' .. ARGV[at], 'groups')
  local inside = groups and string.find(',' .. groups .. ',', ',' .. slug .. ',', 1, true)
  if not inside and redis.call('SISMEMBER', KEYS[1], ARGV[at]) == 1 then
    findings[#findings + 1] = 'holds ' .. ARGV[at] .. ', whose article does not say so'
  end
end

for _, order in ipairs(#ARGV == 2 and ORDERS or {}) do
  local ranking = prefix .. OF_GROUP[order] .. slug
  if redis.call('EXISTS', ranking) == 1 then
    if redis.call('TTL', ranking) == -1 then findings[#findings + 1] = order .. ' ranking without end' end
    local kept = redis.call('ZRANGE', ranking, 0, -1, 'WITHSCORES')
    local exact = redis.call('ZINTER', 2, KEYS[1], prefix .. WHOLE[order], 'WEIGHTS', 0, 1, 'WITHSCORES')
    if table.concat(kept, ' ') ~= table.concat(exact, ' ') then
      findings[#findings + 1] = order .. ' ranking differs from its intersection'
    end
  end
end
return findings
