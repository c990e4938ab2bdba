--[[
Continue dropping the voter sets of comments on which voting has been closed for longer than the grace, by the shard's
clock. Idempotent.
KEYS  1 comments that have been voted on
ARGV  1 now, s  2 grace, s  3 comments in this step  4 shard prefix
Returns  {number of sets dropped, 1 if more comments may have sets to drop, else 0}
Cost  O(log N + step)
TOUCHES  comment:voted:<comment> rw, comment:oppose:<comment> rw, comment:voters: rw, ranking: r
]]
local prefix, step = ARGV[4], tonumber(ARGV[3])
local _, passed = moments(prefix, ARGV[1])
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. exactly(passed - tonumber(ARGV[2])), 'LIMIT', 0, step)
local dropped = 0
for _, id in ipairs(ids) do
  dropped = dropped + redis.call('UNLINK', prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id)
  redis.call('ZREM', KEYS[1], id)
end
return {dropped, #ids == step and 1 or 0}
