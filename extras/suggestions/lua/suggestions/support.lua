--[[
Suggest another title or other groups of an article, or support such a suggestion: a member supports one of each kind. With
enough support, apply it, as the site, unless supporters may not change these groups: then moderators decide; members whose votes are left out of ranking do not count for that. The poster is
notified of a new one. Or take the support back. Idempotent.
KEYS  1 article  2 articles with suggestions that the member supports
ARGV  1 id  2 user id  3 id of the suggestion  4 title, groups, or '' to take the support back  5 title, or groups,
      comma-separated  6 now, s  7 how long a suggestion is open, s  8 supporters that apply it  9 most open suggestions
      10 size of the hot list  11 shard prefix  12 groups for members only, comma-separated
      13 groups into which supporters brought it  14 groups that supporters can neither add nor take away
Returns  {"ok", 1 if it was applied, else 0} | {"missing"} | {"removed"} | {"merged_away"} | {"gone"} | {"own_article"}
         | {"suggestion_closed"} | {"no_change"} | {"suggestions_full"}
Cost  O((suggestions + groups) · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, leftout: r, <order>: rw, top:<period> rw,
         group:<slug> rw, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r,
         log: rw, suggested:<user> rw
]]
local article, id, user, name, kind, to, now = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local prefix, since = ARGV[11], tonumber(ARGV[6]) - tonumber(ARGV[7])

local title, time, poster, removed, merged, votes, opposes, groups =
  unpack(redis.call('HMGET', article, 'title', 'time', 'poster', 'removed', 'merged', 'votes', 'opposes', 'groups'))
if not (title and as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
if removed then return removal(merged) end
if is_gone(prefix, user) then return {'gone'} end
local list, open, found = suggestions_since(article, since, title, groups, name)
if kind == '' then
  if found and found.by then write_suggestions(article, without_support(list, user, found.kind)) end
  return {'ok', 0}
end
if poster == user then return {'own_article'} end
if found and not found.by then return {'suggestion_closed'} end
local current = suggestible(kind, title, groups)
if to == current then return {'no_change'} end
if not found and open >= tonumber(ARGV[9]) then return {'suggestions_full'} end

local is_new = not found
found = found or {id = name, kind = kind, was = current, to = to, at = now, by = {}}
if is_new then list[#list + 1] = found end
list = without_support(list, user, kind, found)
if not contains(table.concat(found.by, ','), user) then found.by[#found.by + 1] = user end
local counted = 0
for _, one in ipairs(found.by) do
  if not is_left_out(prefix, one) then counted = counted + 1 end
end
local is_enough = counted >= tonumber(ARGV[8]) and (kind == 'title' or supporters_may(current, to, unpack(ARGV, 12)))
if is_enough then apply_suggestion(prefix, id, found, '*', now, tonumber(ARGV[10]))
elseif is_new then notify(prefix, poster, 'suggestion', root_of(id), now) end
write_suggestions(article, list)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. exactly(since))
redis.call('ZADD', KEYS[2], now, id)
redis.call('EXPIRE', KEYS[2], ARGV[7])
return {'ok', is_enough and 1 or 0}
