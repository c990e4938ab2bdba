--[[
Add an article to groups and take it out of others, in one step: as a moderator does, or a merge of groups. Idempotent.
KEYS  1 article
ARGV  1 id  2 groups to add, comma-separated  3 groups to leave  4 shard prefix
      5 moderator, for the log; '' logs nothing  6 now, s  7 reason  8 size of the hot list
Returns  {"ok", groups, comma-separated} | {"missing"} | {"merged_away"}
Cost  O(groups · log N)
TOUCHES  article:<id> rw, inbox:<user> rw, gone: r, <order>: rw, top:<period> rw, group:<slug> rw, <order>:<slug> rw,
         counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: r, log: rw
]]
local article, id, prefix = KEYS[1], ARGV[1], ARGV[4]

local title, time, votes, opposes, left_out, groups, removed, merged = unpack(redis.call('HMGET', article,
  'title', 'time', 'votes', 'opposes', 'left_out', 'groups', 'removed', 'merged'))
if not (title and as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
if merged and ARGV[5] ~= '' then return removal(merged) end
local current = parameters(prefix)

local kept, added, dropped = regroup(groups, ARGV[2], ARGV[3])
local now_in, is_same = table.concat(kept, ','), #added == 0 and #dropped == 0
if not is_same and not removed then
  list_article(prefix, id, tonumber(time), votes, opposes, left_out, kept, current, tonumber(ARGV[8]))
end
leave_groups(prefix, id, split(ARGV[3]))  -- also groups that hold the article although its hash does not name them
if is_same then return {'ok', now_in} end
redis.call('HSET', article, 'groups', now_in)
note_changed(prefix, id)
if ARGV[5] ~= '' then
  log_article(prefix, 'groups', ARGV[6], ARGV[5], id, title, ARGV[7],
    {added = table.concat(added, ','), removed = table.concat(dropped, ',')})
end
return {'ok', now_in}
