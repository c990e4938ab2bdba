--[[
Mark a member as deleted and drop the lists of what the member chose and visited, and the inbox: from now on the member
can neither vote nor post, and receives no notice.
The votes stay counted. Idempotent.
KEYS  1 deleted members
ARGV  1 user id  2 shard prefix
Returns  {"ok"}
Cost  O(1)
TOUCHES  votes:<user> rw, opposes:<user> rw, inbox:<user> rw, visits:<user> rw, gone: rw
]]
local user, prefix = ARGV[1], ARGV[2]
redis.call('SADD', KEYS[1], user)
redis.call('UNLINK', prefix .. 'votes:' .. user, prefix .. 'opposes:' .. user, prefix .. 'inbox:' .. user, prefix .. 'visits:' .. user)
return {'ok'}
