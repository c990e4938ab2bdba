--[[
Membership in groups, and their titles.
]]
local function has_title(groups, title)
  for _, one in ipairs(redis.call('HVALS', groups)) do
    if one == title then return true end
  end
  return false
end

local function join_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do redis.call('SADD', prefix .. 'group:' .. slug, id) end
end

-- Take an article out of groups and out of their rankings.
local function leave_groups(prefix, id, groups)
  for _, slug in ipairs(groups) do
    redis.call('SREM', prefix .. 'group:' .. slug, id)
    for _, order in ipairs(ORDERS) do redis.call('ZREM', prefix .. OF_GROUP[order] .. slug, id) end
  end
end
