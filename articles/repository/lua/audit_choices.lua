--[[
Check what one member's lists say against the voter sets of articles that are open. Reads only.
KEYS  1 votes of the member  2 opposes of the member  3 former members
ARGV  1 shard prefix  2 user id  3 now, s
Returns  {1 or 2 for the list, what is wrong …}
Cost  O(entries)
]]
local prefix, user, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local findings, gone = {}, redis.call('SISMEMBER', KEYS[3], user) == 1

for at, one in ipairs(CHOICES) do
  local ids = redis.call('ZRANGE', KEYS[at], 0, -1)
  local function say(text) findings[#findings + 1], findings[#findings + 2] = at, text end
  if gone and #ids > 0 then say('of a member who is gone') end
  for _, id in ipairs(ids) do
    local time, closes = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'time', 'closes'))
    local may_change = time and is_open(now, closing_time(prefix, tonumber(time), closes))
    if not time then say('holds ' .. id .. ', but there is no such article')
    elseif may_change and redis.call('SISMEMBER', prefix .. one.set .. id, user) == 0 then
      say('holds ' .. id .. ', but the member is not in ' .. one.set .. id)
    elseif not may_change and at == 1 and redis.call('ZSCORE', KEYS[2], id) then
      say('holds ' .. id .. ', which the member also opposed')
    end
  end
end
return findings
