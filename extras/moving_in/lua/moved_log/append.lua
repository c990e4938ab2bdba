--[[
Add entries of a source to a moderation log, with their own times, the oldest first: below those that were added here, which
concern no article, and above those that came before. No one is notified. Idempotent: they come on so many alone.
KEYS  1 log
ARGV  1 shard prefix  2 entries that came before  3 most of those that were added here  4… of each new one: action, time in s,
      actor, id of the article or 0, id of the comment or '', title, reason, details as JSON
Returns  {"ok"} | {"changed"} if others are there
Cost  O(entries + 3)
TOUCHES  article:<id> rw, comment:<comment> rw, log: rw
]]
local entries, prefix = KEYS[1], ARGV[1]
local own = own_entries(entries, tonumber(ARGV[2]), tonumber(ARGV[3]))
if not own then return {'changed'} end

for _ = 1, #own do redis.call('LPOP', entries) end
for at = 4, #ARGV, 8 do
  local action, time, actor, id, comment, title, reason, text = unpack(ARGV, at, at + 7)
  local details = cjson.decode(text)
  if comment ~= '' then
    local key = prefix .. 'comment:' .. comment
    details.comment = comment
    if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'log', 1) end
  end
  local is_here = id ~= '0' and redis.call('EXISTS', prefix .. 'article:' .. id) == 1
  local write = is_here and log_and_note or log
  write(prefix, action, time, actor, is_here and id or '0', title, reason, details)
end
for n = #own, 1, -1 do redis.call('LPUSH', entries, own[n]) end
return {'ok'}
