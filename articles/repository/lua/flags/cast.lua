--[[
Flag a comment or an article, change the member's flag, or take it back. Idempotent: the flag is a target state.
KEYS  1 flags  2 what is flagged: the comment, or the article  3 the article
ARGV  1 id: the comment's, or the root of the article's comments  2 user id, 0 for rules  3 reason, '' to take the flag back  4 now, s
      5 weight of the flag  6 words  7 field that holds who wrote it  8 most flags  9 shard prefix
Returns  {"ok", weight of all open flags} | {"missing"} | {"removed"} | {"merged_away"} | {"no_comment"} | {"comment_removed"} | {"gone"}
         | {"own"} | {"not_poster"} | {"flag_decided"} | {"flags_full"}
Cost  O(flags + log N)
TOUCHES  article:<id> r, comment:<comment> r, flags:<comment> rw, flagged: rw, flags:by:<user> rw, gone: r
]]
local flags, subject, user, reason, prefix = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[9]
local is_comment = KEYS[2] ~= KEYS[3]

local time, removed, merged = unpack(redis.call('HMGET', KEYS[3], 'time', 'removed', 'merged'))
if not as_time(time) then return {'missing'} end
if removed and not (is_comment and merged) then return removal(merged) end
local author, posted_at, hidden, deleted = unpack(redis.call('HMGET', KEYS[2], ARGV[7], 'time', 'removed', 'deleted'))
if is_comment and (deleted or not as_time(posted_at)) then return {'no_comment'} end
if is_comment and hidden then return {'comment_removed'} end
if is_gone(prefix, user) then return {'gone'} end
if reason == WITHDRAWAL and author ~= user then return {'not_poster'} end
if author == user and (is_comment or (reason ~= '' and reason ~= WITHDRAWAL)) then return {'own'} end
local before = redis.call('HGET', flags, user)
local _, first, _, state = flag_parts(before)
if state and state ~= 'open' then return {'flag_decided'} end
if not before and reason ~= '' and redis.call('HLEN', flags) >= tonumber(ARGV[8]) then return {'flags_full'} end

if reason == '' then
  redis.call('HDEL', flags, user)
  list_flag(prefix, user, subject)
else
  local at = string.format('%.3f', first or tonumber(ARGV[4]))
  local text = table.concat({reason, at, ARGV[5], 'open', ARGV[6]}, ' ')
  redis.call('HSET', flags, user, text)
  list_flag(prefix, user, subject, text)
end
return {'ok', string.format('%.2f', queue_flagged(prefix, subject, flags_of(prefix, subject)))}
