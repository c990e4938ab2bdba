--[[
Drop those of some deleted comments that have no replies, and the stubs above them that have no others. Idempotent.
KEYS  1 comments that have been voted on
ARGV  1 shard prefix  2… ids
Returns  {"ok"}
Cost  O(ids · log N)
TOUCHES  comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw, comment:voters: rw,
         replies:<order>:<comment> rw
]]
for at = 2, #ARGV do
  local is_stub = redis.call('HEXISTS', ARGV[1] .. 'comment:' .. ARGV[at], 'deleted') == 1
  if is_stub and count_replies(ARGV[1], ARGV[at]) == 0 then drop_comment(ARGV[1], ARGV[at]) end
end
return {'ok'}
