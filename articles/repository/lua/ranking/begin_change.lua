--[[
Note the parameters to apply, unless the current ones are not those that the change is based on.
KEYS  1 ranking parameters of the first shard
ARGV  1 version that the change is based on  2 now, s  3 moderator  4 reason
      5 "1" if a moderator chooses the weight of a vote from now on, "0" if not, "" if so only where the weight changes
      6 number of articles that the site learnt it from, or 0  7 name  8 value  9 name  10 value …
Returns  {"ok"} | {"changed", current version} | {"busy"}
Cost  O(1)
TOUCHES  ranking: rw
]]
local ranking = KEYS[1]
local version, busy, weight =
  unpack(redis.call('HMGET', ranking, 'version', 'next_version', 'seconds_per_point'))
if not version then error('UNPREPARED there is no ' .. ranking) end
if busy then return {'busy'} end
if version ~= ARGV[1] then return {'changed', version} end

local new = {}
for at = 7, #ARGV, 2 do new[ARGV[at]] = ARGV[at + 1] end
for name, value in pairs(new) do
  if name ~= 'seconds_per_point' then redis.call('HSET', ranking, 'next_' .. name, value) end
end
redis.call('HSET', ranking, 'next_version', version + 1, 'next_at', ARGV[2], 'next_actor', ARGV[3], 'next_reason', ARGV[4])
local chosen = ARGV[5]
if chosen == '' and tonumber(new.seconds_per_point) ~= tonumber(weight) then chosen = '1' end
if chosen ~= '' then redis.call('HSET', ranking, 'next_chosen', chosen) end
if tonumber(ARGV[6]) > 0 then redis.call('HSET', ranking, 'next_learnt_from', ARGV[6]) end
return {'ok'}
