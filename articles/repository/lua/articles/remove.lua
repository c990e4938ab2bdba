--[[
Take an article out of every list, decide its flags, and log it. Its hash, counts and groups stay, so it can be restored.
If a moderator removes it, those who flagged it are notified. If its poster withdraws it, the script is idempotent.
KEYS  1 article
ARGV  1 id  2 name of the moderator or the poster  3 now, s  4 reason  5 shard prefix  6 root of its comments
      7 sweep, or ''  8 poster's user id; '' for a moderator
      9 how long the poster may withdraw it, s; '' for a moderator
Returns  {"ok", title, link, text} | {"missing"} | {"removed"} | {"merged_away"} | {"gone"} | {"not_poster"} | {"late_to_withdraw"}
Cost  O((groups + flags) · log N)
TOUCHES  article:<id> rw, flags:<comment> rw, flagged: rw, flags:by:<user> rw, inbox:<user> rw, gone: r, <order>: rw,
         top:<period> rw, removed: rw, group:<slug> rw, <order>:<slug> rw, rings: rw, next:score rw, changes: rw,
         ranking: r, log: rw
]]
local article, id, now, prefix, poster = KEYS[1], ARGV[1], ARGV[3], ARGV[5], ARGV[8]

local title, link, text, owner, time, groups, removed, merged =
  unpack(redis.call('HMGET', article, 'title', 'link', 'text', 'poster', 'time', 'groups', 'removed', 'merged'))
if not (title and as_time(time)) then return {'missing'} end
local content = {'ok', title, link or '', text or ''}
if poster ~= '' then
  if is_gone(prefix, poster) then return {'gone'} end
  if owner ~= poster then return {'not_poster'} end
  if removed == ARGV[4] then return content end
end
if removed then return removal(merged) end
if poster ~= ''
  and milliseconds(moments(prefix, now)) - milliseconds(tonumber(time)) > milliseconds(tonumber(ARGV[9])) then
  return {'late_to_withdraw'}
end

redis.call('HSET', article, 'removed', ARGV[4])
if ARGV[7] ~= '' then redis.call('HSET', article, 'sweep', ARGV[7]) end
redis.call('HDEL', article, 'ring')
unlist_article(prefix, id, split(groups))
note_changed(prefix, id)
redis.call('ZADD', prefix .. 'removed:', time, id)
local flaggers = decide_flags(prefix, ARGV[6], 'removed', math.huge)
for _, user in ipairs(poster == '' and flaggers or {}) do
  if user ~= owner then notify(prefix, user, 'flag-removed', ARGV[6], now) end  -- who is notified of the removal itself
end
log_article(prefix, poster == '' and 'remove' or 'withdraw', now, ARGV[2], id, title, ARGV[4], {})
return content
