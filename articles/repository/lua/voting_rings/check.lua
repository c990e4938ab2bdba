--[[
Take the flag off an article whose voting ring a moderator has checked, and log it. Later votes flag it again once as many new
accounts of one network have voted. Idempotent: a ring that began after what the moderator saw keeps its flag.
KEYS  1 article  2 flagged articles
ARGV  1 article id  2 time of the last vote that the moderator saw, s  3 now, s  4 shard prefix
      5 moderator
Returns  {"ok"} | {"missing"} | {"merged_away"}
Cost  O(log N)
TOUCHES  article:<id> rw, rings: rw, ranking: r, log: rw
]]
local article = KEYS[1]
local now = moments(ARGV[4], ARGV[3])
local title, time, ring, checked, merged =
  unpack(redis.call('HMGET', article, 'title', 'time', 'ring', 'ring_checked', 'merged'))
if not as_time(time) then return {'missing'} end
if merged then return removal(merged) end

local seen = math.min(tonumber(ARGV[2]), now)
redis.call('HSET', article, 'ring_checked', string.format('%.3f', math.max(seen, as_time(checked) or 0)))
local first = ring_facts(ring)
if not first or first <= seen then
  redis.call('HDEL', article, 'ring')
  redis.call('ZREM', KEYS[2], ARGV[1])
  if first then log_and_note(ARGV[4], 'check-ring', ARGV[3], ARGV[5], ARGV[1], title or '', '', {}) end
end
return {'ok'}
