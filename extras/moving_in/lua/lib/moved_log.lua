--[[
A moderation log that begins with the entries of a source.
]]
-- Return the entries above so many that came, the newest first; nil if there are more than `most`, or if any is about an
-- article, which refers to it by its place.
local function own_entries(log_key, came, most)
  local above = redis.call('LLEN', log_key) - came
  if above < 0 or above > most then return nil end
  local own = above > 0 and redis.call('LRANGE', log_key, 0, above - 1) or {}
  for _, text in ipairs(own) do
    if id_of_entry(text) ~= '0' then return nil end
  end
  return own
end
