--[[
Take an article out that an import brought, unless others have done more with it than was seen: first all but its comments, then
some of these. Idempotent: comments that are left are found by their places.
KEYS  1 article
ARGV  1 id  2 shard prefix  3 since when what others do counts, s  4 most comments and voters to look at, or comments to drop
      5 what undoing/look returned at first, after the status, separated by spaces
Returns  {"ok", 1 if comments of it are left, else 0} | {"changed"}
Cost  O((comments + voters + groups) · log N), bounded by 4
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, brought:<id> rw, comment:<comment> rw,
         comment:voted:<comment> rw, comment:oppose:<comment> rw, comment:voters: rw, replies:<order>:<comment> rw,
         flags:<comment> r, votes:<user> rw, opposes:<user> rw, posted:<user> rw, commented:<user> rw, <order>: rw,
         top:<period> rw, merging: rw, removed: rw, group:<slug> rw, <order>:<slug> rw, counter:views:<id> rw,
         hll:uv:<id> rw, counter:suspect:<id> rw, days:<id> rw, rings: rw, viewed: rw, history:<id> rw, next:score rw,
         changes: rw, log: r
]]
local article, id, prefix, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[4])
if redis.call('EXISTS', article) == 0 then return {'ok', drop_comments(prefix, id, most)} end
if table.concat(acts_since(prefix, id, tonumber(ARGV[3]), 0, most), ' ') ~= ARGV[5] then return {'changed'} end

for _, one in ipairs(CHOICES) do
  for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do
    if is_member(user) then redis.call('ZREM', prefix .. one.list .. user, id) end
  end
end
local poster, groups = unpack(redis.call('HMGET', article, 'poster', 'groups'))
if (tonumber(poster) or 0) > 0 then redis.call('ZREM', prefix .. 'posted:' .. poster, id) end
drop_article(prefix, id, split(groups))
redis.call('UNLINK', article)
note_changed(prefix, id)
return {'ok', redis.call('EXISTS', prefix .. 'replies:time:' .. root_of(id))}
