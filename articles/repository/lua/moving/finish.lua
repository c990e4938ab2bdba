--[[
Refuse all further changes of a shard, unless it takes changes again.
KEYS  1 state of the move  2 key that exists while changes are refused
ARGV  none
Returns  {"ok"} | {"late"}
Cost  O(1)
TOUCHES  moving: rw, closed: r
INCLUDE  none
]]
if redis.call('GET', KEYS[1]) ~= 'moved' and redis.call('EXISTS', KEYS[2]) == 0 then return {'late'} end
redis.call('SET', KEYS[1], 'moved')
return {'ok'}
