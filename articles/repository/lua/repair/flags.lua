--[[
Put the flags of some comments and articles of one shard into the queue and the members' lists that they require, and take
entries without a flag off a list. Idempotent. Flags of what is not there, and of deleted members, are dropped; those on
what is removed are decided.
KEYS  1 queue
ARGV  1 shard prefix  2… of each: id of a comment or root of an article, and the member whose list has it; '' for all its flags
Returns  {"ok"}
Cost  O(flags · log N)
TOUCHES  article:<id> r, comment:<comment> r, flags:<comment> rw, flagged: rw, flags:by:<user> rw, gone: r
INCLUDE  flags, members
]]
local prefix = ARGV[1]

local function list_flag(id, user, text)
  local state = flag_score(text)
  if state and not is_gone(prefix, user) then return redis.call('ZADD', prefix .. 'flags:by:' .. user, state, id) end
  redis.call('HDEL', prefix .. 'flags:' .. id, user)
  redis.call('ZREM', prefix .. 'flags:by:' .. user, id)
end

for at = 2, #ARGV, 2 do
  local id, user = ARGV[at], ARGV[at + 1]
  if user == '' then
    local is_there, is_shown = has_subject(prefix, id)
    if not is_there then drop_flags(prefix, id)
    elseif not is_shown then decide_flags(prefix, id, 'removed', math.huge) end
    for _, flag in ipairs(flags_of(prefix, id)) do list_flag(id, flag[1], flag[2]) end
    queue_flagged(prefix, id, flags_of(prefix, id))
  elseif redis.call('HEXISTS', prefix .. 'flags:' .. id, user) == 0 then
    redis.call('ZREM', prefix .. 'flags:by:' .. user, id)
  end
end
return {'ok'}
