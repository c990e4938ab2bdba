--[[
Check some ids, members of one group or of its rankings, in the group and in its rankings. Repairing, remove those whose
article is missing, removed or not of this group, and drop rankings that differ: the next read makes them. Idempotent.
KEYS  1 group
ARGV  1 shard prefix  2 slug  3… ids
Returns  {problem, …}
Cost  O(ids · log N)
TOUCHES  article:<id> r, <order>: r, group:<slug> rw, <order>:<slug> rw
]]
local prefix, slug, ids = ARGV[1], ARGV[2], {unpack(ARGV, 3)}
local findings, inside = {}, #ids > 0 and redis.call('SMISMEMBER', KEYS[1], unpack(ids)) or {}

for n, id in ipairs(ids) do
  if REPAIRS or inside[n] == 1 then
    local groups, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'groups', 'removed'))
    local is_named = groups and contains(groups, slug)
    if inside[n] == 1 and not is_named then
      findings[#findings + 1] = 'holds ' .. id .. ', whose article does not say so'
    end
    if REPAIRS and (removed or not is_named) then
      leave_groups(prefix, id, {slug})
      inside[n] = 0
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
    local found = #findings
    if redis.call('TTL', ranking) == -1 then findings[#findings + 1] = order .. ' ranking without end' end
    if #ids > 0 and differs(ranking, prefix .. WHOLE[order]) then
      findings[#findings + 1] = order .. ' ranking differs from its intersection'
    end
    if REPAIRS and #findings > found then redis.call('UNLINK', ranking) end
  end
end
return findings
