--[[
Mark a member as deleted and drop the lists of what the member chose and visited, and the inbox: from now on the member
can neither vote nor post, and receives no notice.
The votes stay counted. Idempotent.
KEYS  1 deleted members  2 votes of the member  3 opposes of the member  4 inbox of the member  5 visits of the member
ARGV  1 user id
Returns  {"ok"}
Cost  O(1)
TOUCHES  votes:<user> rw, opposes:<user> rw, inbox:<user> rw, visits:<user> rw, gone: rw
]]
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
return {'ok'}
