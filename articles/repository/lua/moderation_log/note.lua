--[[
Log an action on a member or a host that is decided outside the store, such as a ban. Idempotent for a while: if the
newest entry about the same is equal, this is a retry.
KEYS  1 log
ARGV  1 action  2 now, s  3 moderator  4 member or host  5 reason  6 shard prefix  7 how long the same entry is a retry, s
      8… details: name, value, name, value …
Returns  {"ok"}
Cost  O(1)
TOUCHES  log: rw
]]
local RECENT = 50  -- entries among which a retry is recognised
local details = {}
for n = 8, #ARGV, 2 do details[ARGV[n]] = ARGV[n + 1] end

local function has_same_details(entry)
  if type(entry.details) ~= 'table' then return false end
  for name, value in pairs(details) do if entry.details[name] ~= value then return false end end
  for name in pairs(entry.details) do if details[name] == nil then return false end end
  return true
end

-- Return the newest of the recent entries about the member or host; false without one.
local function newest()
  for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, RECENT - 1)) do
    local is_json, entry = pcall(cjson.decode, text)
    if is_json and type(entry) == 'table' and entry.id == '0' and entry.title == ARGV[4] then return entry end
  end
  return false
end

local last = newest()
local is_retry = last and last.action == ARGV[1] and last.actor == ARGV[3] and last.reason == ARGV[5]
  and has_same_details(last) and tonumber(ARGV[2]) - (tonumber(last.at) or 0) <= tonumber(ARGV[7])
if not is_retry then log(ARGV[6], ARGV[1], ARGV[2], ARGV[3], '0', ARGV[4], ARGV[5], details) end
return {'ok'}
