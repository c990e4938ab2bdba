--[[
Append entries to a moderation log with their own times, the oldest first, as an import brings them. No one is notified.
Idempotent: only a log with as many entries as given grows.
KEYS  1 log
ARGV  1 shard prefix  2 entries that it has  3… of each new one: action, time in s, actor, id of the article or 0, id of the
      comment or '', title, reason, details as JSON
Returns  {"ok"} | {"changed"} if it has another number of entries
Cost  O(entries)
TOUCHES  log: rw, article:<id> rw, comment:<comment> rw
]]
local prefix = ARGV[1]
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return {'changed'} end
for at = 3, #ARGV, 8 do
  local action, time, actor, id, comment, title, reason, text = unpack(ARGV, at, at + 7)
  local details = cjson.decode(text)
  if comment ~= '' then
    details.comment = comment
    if redis.call('EXISTS', prefix .. 'comment:' .. comment) == 1 then redis.call('HSET', prefix .. 'comment:' .. comment, 'log', 1) end
  end
  if id ~= '0' and redis.call('EXISTS', prefix .. 'article:' .. id) == 1 then log_and_note(prefix, action, time, actor, id, title, reason, details)
  else log(prefix, action, time, actor, '0', title, reason, details) end
end
return {'ok'}
