--[[
Continue a ranking of a shard's articles by another weight, beside the current one; begin it if there is none. While it
exists, every change of an article changes both.
KEYS  1 ranking parameters  2 the other ranking  3 time ranking  4 current ranking
ARGV  1 shard prefix  2 the other weight, s  3 articles in this step  4 version it will be
Returns  {1 if it is complete, number of its articles, number of all articles}; {1, 0, 0} once that version is current
Cost  O(step · log N)
TOUCHES  article:<id> r, score: r, time: r, next:score rw, ranking: rw
]]
local ranking, staged, times, prefix = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local step = tonumber(ARGV[3])
local weight, cursor, version = unpack(redis.call('HMGET', ranking, 'next_seconds_per_point', 'next_cursor', 'version'))
if tonumber(version) >= tonumber(ARGV[4]) then return {1, 0, 0} end
if weight ~= ARGV[2] then
  redis.call('UNLINK', staged)
  redis.call('HSET', ranking, 'next_seconds_per_point', ARGV[2])
  cursor = '-inf'
end
local seconds_per_point = tonumber(ARGV[2])

if cursor ~= 'done' then
  local entries, last = following(times, cursor, step)
  local places = {}
  for at = 1, #entries, 2 do
    local id = entries[at]
    local votes, opposes, left_out = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'votes', 'opposes', 'left_out'))
    if as_count(votes) and as_count(opposes) then
      local points = ranked_points(votes, opposes, left_out)
      places[#places + 1] = exactly(score(tonumber(entries[at + 1]), points, seconds_per_point))
      places[#places + 1] = id
    end
  end
  in_batches(places, function(...) redis.call('ZADD', staged, ...) end)
  cursor = last == '' and 'done' or last
  redis.call('HSET', ranking, 'next_cursor', cursor)
end
return {cursor == 'done' and 1 or 0, redis.call('ZCARD', staged), redis.call('ZCARD', KEYS[4])}
