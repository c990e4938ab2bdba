--[[
Note places and points of a shard's articles at one moment, unless this moment or a later one is noted. Idempotent.
KEYS  1 ranking parameters
ARGV  1 shard prefix  2 moment, s  3 how long a sample is kept, s
      4 how far ahead of it a sample may be, s; what is further was noted by a clock that was wrong
      5… of each article: id, place on the front page or '-', place on the hot list or '-'
Returns  how many articles were noted
Cost  O(articles)
]]
local prefix, moment, life, ahead = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
parameters(prefix)
local newest = tonumber(redis.call('HGET', KEYS[1], 'sampled_at') or '-inf')
if moment <= newest and newest - moment <= ahead then return 0 end

local noted = 0
for at = 5, #ARGV, 3 do
  local id, place, hot = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local votes, opposes, removed = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'votes', 'opposes', 'removed'))
  if votes and not removed then
    local history = prefix .. 'history:' .. id
    while tonumber(string.match(redis.call('LINDEX', history, 0) or '0', '^%d+')) > moment do redis.call('LPOP', history) end
    redis.call('LPUSH', history, ARGV[2] .. ' ' .. place .. ' ' .. votes - opposes .. ' ' .. hot)
    while tonumber(string.match(redis.call('LINDEX', history, -1), '^%d+')) <= moment - life do
      redis.call('RPOP', history)
    end
    redis.call('EXPIRE', history, life)
    noted = noted + 1
  end
end
redis.call('HSET', KEYS[1], 'sampled_at', ARGV[2])
return noted
