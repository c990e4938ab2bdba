--[[
Apply a suggestion, or decline it, as the poster or a moderator decides; only that is logged which changes the article.
KEYS  1 article
ARGV  1 id  2 id of the suggestion  3 name of the poster or the moderator  4 1 to apply it, 0 to decline it  5 now, s
      6 how long a suggestion is open, s  7 size of the hot list  8 shard prefix
Returns  {"ok"} | {"missing"} | {"removed"} | {"merged_away"} | {"no_suggestion"}
Cost  O((suggestions + groups) · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw, group:<slug> rw, <order>:<slug> rw,
         counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r, log: rw
]]
local article, id, now = KEYS[1], ARGV[1], ARGV[5]

local title, time, removed, merged, votes, opposes, groups =
  unpack(redis.call('HMGET', article, 'title', 'time', 'removed', 'merged', 'votes', 'opposes', 'groups'))
if not (title and as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
if removed then return removal(merged) end
local list, _, found = suggestions_since(article, tonumber(now) - tonumber(ARGV[6]), title, groups, ARGV[2])
if not (found and found.by) then return {'no_suggestion'} end

if ARGV[4] == '1' then apply_suggestion(ARGV[8], id, found, ARGV[3], now, tonumber(ARGV[7]))
else close_suggestion(found, now) end
write_suggestions(article, list)
return {'ok'}
