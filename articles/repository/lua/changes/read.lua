--[[
Read what changed after a position in the changes of a shard, the earliest first. Reads only.
KEYS  1 changes
ARGV  1 time of the position, µs, or inf  2 the change of that time that was read last, "" for none  3 most changes
Returns  {now, µs, "1" if no later change was dropped or "0", change, its time, µs, …}
Cost  O(log N + changes that are read)
TOUCHES  changes: r
]]
local key, at, last, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
local is_known = redis.call('ZCARD', key) < CHANGES_KEPT or tonumber(oldest) <= tonumber(at)

local found, passed = {string.format('%.0f', time_of_change()), is_known and '1' or '0'}, 0
repeat
  local part = redis.call('ZRANGEBYSCORE', key, at, '+inf', 'WITHSCORES', 'LIMIT', passed, most)
  for n = 1, #part, 2 do
    if #found < 2 * most + 2 and (tonumber(part[n + 1]) > tonumber(at) or part[n] > last) then
      found[#found + 1], found[#found + 2] = part[n], part[n + 1]
    end
  end
  passed = passed + #part / 2
until #found == 2 * most + 2 or #part < 2 * most
return found
