--[[
Read a part of a ranking, and its articles. Makes the ranking of a group or a span if it does not exist; where the store
refuses writes, the part is worked out without it. Of a hot list, only what was posted since a moment can be wanted.
KEYS  1 ranking  2 ranking parameters  3 group; the ranking again for one of no group  4 ranking of all articles from
      which a group's is made  5 titles of groups, if a title is wanted  6 saved articles of the member; the ranking
      again without a member
ARGV  1 shard prefix  2 first entry, counted from 0, best first  3 last entry  4 span (day|week|month), or ''
      5 where the span begins, or the only articles of a hot list, s, or ''  6 life of a ranking that is made, s  7 up to how many articles it is made at once
      8 past how many articles of the ranking of all to walk before it is made  9 slug of the group whose title is wanted,
      or ''  10 user, or ''  11 1 to count visitors, or 0  12… fields of the hashes; without these, no articles are read
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}, title, what read_articles() returns,
         {1 if saved, or 0 …}}; the last two only with articles
Cost  O(log N + entries); if the ranking does not exist, O(few · log few) for few articles, O(walked) for more, and
      O(group · log group) for a part that lies deeper; O(list) of a hot list since a moment
TOUCHES  article:<id> r, votes:<user> r, opposes:<user> r, visits:<user> r,
         <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r,
         ranking: rw, groups: r, saved:<user> r
]]
local count, part = open_ranking(KEYS, ARGV)
local entries, refused = part(tonumber(ARGV[2]), tonumber(ARGV[3]))
if refused then return refused end
local title = ARGV[9] ~= '' and redis.call('HGET', KEYS[5], ARGV[9])
local state, user, ids = redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), ARGV[10], {}
if not user then return {count(), entries, state, title} end
for at = 1, #entries, 2 do ids[#ids + 1] = entries[at] end
local articles = read_articles(ARGV[1], KEYS[2], ids, user, ARGV[11] == '1', {unpack(ARGV, 12)})
return {count(), entries, state, title, articles, user ~= '' and saved_among(KEYS[6], ids) or {}}
