--[[
Sample the ranks and points of a shard's articles at one moment, unless this moment or a later one is already sampled.
Idempotent.
KEYS  1 ranking parameters
ARGV  1 shard prefix  2 moment, s  3 how long a sample is kept, s
      4 how far a sample may be ahead, s; one that is further ahead is from a wrong clock
      5… of each article: id, rank on the front page or '-', rank on the hot list or '-'
Returns  number of articles sampled
Cost  O(articles)
TOUCHES  article:<id> r, history:<id> rw, ranking: rw
]]
local prefix, moment, life, ahead = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
parameters(prefix)
local newest = tonumber(redis.call('HGET', KEYS[1], 'sampled_at') or '-inf')
if moment <= newest and newest - moment <= ahead then return 0 end

local function moment_of(history, place)
  return tonumber(string.match(redis.call('LINDEX', history, place) or '', '^%d+') or 0)
end

local notes = {}
for at = 5, #ARGV, 3 do
  local id = ARGV[at]
  local history = prefix .. 'history:' .. id
  local votes, opposes, left_out, removed =
    unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'votes', 'opposes', 'left_out', 'removed'))
  if votes and not removed then
    local points = ranked_points(tonumber(votes), tonumber(opposes), left_out)
    notes[#notes + 1] = {history, table.concat({ARGV[2], ARGV[at + 1], points, ARGV[at + 2]}, ' ')}
  end
end
for _, note in ipairs(notes) do
  local history, text = unpack(note)
  while moment_of(history, 0) > moment do redis.call('LPOP', history) end
  redis.call('LPUSH', history, text)
  while moment_of(history, -1) <= moment - life do redis.call('RPOP', history) end
  redis.call('EXPIRE', history, life)
end
redis.call('HSET', KEYS[1], 'sampled_at', ARGV[2])
return #notes
