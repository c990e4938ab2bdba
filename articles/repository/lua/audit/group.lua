--[[
Check some ids, members of one group or of its rankings, in the group and in its rankings. Reads only.
KEYS  1 group
ARGV  1 shard prefix  2 slug  3… ids
Returns  {problem, …}
Cost  O(ids)
TOUCHES  article:<id> r, score: r, time: r, points: r, active: r, group:<slug> r, score:<slug> r, time:<slug> r,
         points:<slug> r, active:<slug> r, hot:score r, hot:score:<slug> r
]]
local prefix, slug, ids = ARGV[1], ARGV[2], {unpack(ARGV, 3)}
local findings, inside = {}, #ids > 0 and redis.call('SMISMEMBER', KEYS[1], unpack(ids)) or {}

for n, id in ipairs(ids) do
  if inside[n] == 1 then
    local groups = redis.call('HGET', prefix .. 'article:' .. id, 'groups')
    if not (groups and string.find(',' .. groups .. ',', ',' .. slug .. ',', 1, true)) then
      findings[#findings + 1] = 'holds ' .. id .. ', whose article does not say so'
    end
  end
end

local function differs(ranking, whole)
  local kept, exact = redis.call('ZMSCORE', ranking, unpack(ids)), redis.call('ZMSCORE', whole, unpack(ids))
  for n in ipairs(ids) do
    if kept[n] ~= (inside[n] == 1 and exact[n]) then return true end
  end
end

for _, order in ipairs(ORDERS) do
  local ranking = prefix .. OF_GROUP[order] .. slug
  if redis.call('EXISTS', ranking) == 1 then
    if redis.call('TTL', ranking) == -1 then findings[#findings + 1] = order .. ' ranking without end' end
    if #ids > 0 and differs(ranking, prefix .. WHOLE[order]) then
      findings[#findings + 1] = order .. ' ranking differs from its intersection'
    end
  end
end
return findings
