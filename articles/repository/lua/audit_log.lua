--[[
Check that articles know the entries of the moderation log about them, from the oldest on. Reads only.
KEYS  1 log
ARGV  1 shard prefix  2 entries that were looked at  3 entries in this step
Returns  {id, what is wrong, id, what is wrong …}
Cost  O(step)
]]
local prefix, done, findings = ARGV[1], tonumber(ARGV[2]), {}
local entries = redis.call('LRANGE', KEYS[1], -done - tonumber(ARGV[3]), -done - 1)
for n, text in ipairs(entries) do
  local id, number = tostring(cjson.decode(text).id), done + #entries - n + 1
  local article = prefix .. 'article:' .. id
  if id ~= '0' and redis.call('EXISTS', article) == 1 then
    local knows = false
    for _, noted in ipairs(split(redis.call('HGET', article, 'log'))) do
      knows = knows or tonumber(noted) == number
    end
    if not knows then
      findings[#findings + 1], findings[#findings + 2] = id, 'does not know entry ' .. number .. ' of the log'
    end
  end
end
return findings
