--[[
Make a group's ranking from the ranking of all articles, for as long as somebody reads it, and read a part.
KEYS  1 the group's ranking, to be made  2 group  3 ranking of all articles  4 ranking parameters, where wanted
ARGV  1 life, s  2 first entry, counted from 0, best first  3 last entry
Returns  {how many articles it has, {id, value, id, value …}, {version, refreshed at}}
Cost  O(group · log group)
]]
local made = redis.pcall('ZINTERSTORE', KEYS[1], 2, KEYS[2], KEYS[3], 'WEIGHTS', 0, 1)
if type(made) ~= 'number' then
  if not KEYS[4] then return made end
  -- The store takes no writes just now: a reader gets the part without the ranking.
  local all, part = redis.call('ZINTER', 2, KEYS[2], KEYS[3], 'WEIGHTS', 0, 1, 'WITHSCORES'), {}
  for at = #all / 2 - ARGV[2], math.max(1, #all / 2 - ARGV[3]), -1 do
    part[#part + 1], part[#part + 2] = all[2 * at - 1], all[2 * at]
  end
  return {#all / 2, part, redis.call('HMGET', KEYS[4], 'version', 'refreshed_at')}
end
if made > 0 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
local part = redis.call('ZREVRANGE', KEYS[1], ARGV[2], ARGV[3], 'WITHSCORES')
return {made, part, KEYS[4] and redis.call('HMGET', KEYS[4], 'version', 'refreshed_at')}
