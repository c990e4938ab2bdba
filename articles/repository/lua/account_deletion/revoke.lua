--[[
A member's account is deleted: what it chose is listed no more, and it chooses and posts nothing from now on. The
votes stay counted. Idempotent.
KEYS  1 former members  2 votes of the member  3 opposes of the member
ARGV  1 user id
Returns  {"ok"}
Cost  O(1)
TOUCHES  votes:<user> rw, opposes:<user> rw, gone: rw
]]
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3])
return {'ok'}
