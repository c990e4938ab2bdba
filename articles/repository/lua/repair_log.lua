--[[
Note in articles' hashes which entries of the moderation log are about them, from the oldest on. Idempotent.
KEYS  1 log
ARGV  1 shard prefix  2 entries that were looked at  3 entries in this step
Returns  {how many entries there were}
Cost  O(step)
]]
local prefix, done = ARGV[1], tonumber(ARGV[2])
local entries = redis.call('LRANGE', KEYS[1], -done - tonumber(ARGV[3]), -done - 1)
for n = #entries, 1, -1 do
  local id, number = tostring(cjson.decode(entries[n]).id), done + #entries - n + 1
  local article = prefix .. 'article:' .. id
  if id ~= '0' and redis.call('EXISTS', article) == 1 then
    local known, before = {}, split(redis.call('HGET', article, 'log'))
    for _, noted in ipairs(before) do known[#known + 1] = tonumber(noted) end
    local knows = false
    for _, noted in ipairs(known) do knows = knows or noted == number end
    if not knows then
      known[#known + 1] = number
      table.sort(known)
      redis.call('HSET', article, 'log', table.concat(known, ','))
    end
  end
end
return {#entries}
