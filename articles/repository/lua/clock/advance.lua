--[[
Advance the shard's clock towards the caller's: at most by twice the time that has passed on the caller's machine since
the last run; after a run of another machine, or a restart of this one, by twice the caller's interval. Idempotent: a
repetition at the same uptime changes nothing.
KEYS  1 parameters
ARGV  1 now, s  2 id of the machine's start  3 seconds since then  4 interval, s
Returns  {"ok", the clock, s}
Cost  O(1)
TOUCHES  ranking: rw
]]
local now, start, uptime, interval = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local clock, last_start, last_uptime = unpack(redis.call('HMGET', KEYS[1], 'clock', 'clock_start', 'clock_uptime'))
clock = as_time(clock) or now

local elapsed = last_start == start and math.max(0, uptime - (tonumber(last_uptime or '') or uptime)) or interval
clock = string.format('%.3f', math.max(clock, math.min(now, clock + 2 * elapsed)))
redis.call('HSET', KEYS[1], 'clock', clock, 'clock_start', start, 'clock_uptime', ARGV[3])
return {'ok', clock}
