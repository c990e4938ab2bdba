--[[
Read a part of a ranking, as lists/read does, and its articles: a page of a store with one shard.
KEYS  1 ranking  2 ranking parameters  3 group, and  4 ranking of all articles, as for lists/read  5 titles of groups
      6 saved articles of the member; the ranking again without a member
ARGV  1 shard prefix  2 first entry  3 last entry  4 span  5 where it begins  6 life  7 up to how many articles
      8 past how many, all as for lists/read  9 slug of the group whose title is wanted, or ''  10 user, or ''
      11 1 to count visitors, or 0  12… fields of the hashes
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}, title, what read_articles() returns,
         {1 if saved, or 0 …}}
Cost  that of lists/read, and O(entries)
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, visits:<user> r,
         <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r,
         ranking: rw, groups: r, saved:<user> r
]]
local user = ARGV[10]
local count, part = open_ranking({
  prefix = ARGV[1], ranking = KEYS[1], group = KEYS[3] ~= KEYS[1] and KEYS[3], whole = KEYS[4], life = ARGV[6],
  span = ARGV[4] ~= '' and ARGV[4], since = ARGV[5], few = tonumber(ARGV[7]), walked = tonumber(ARGV[8]),
})
local entries, refused = part(tonumber(ARGV[2]), tonumber(ARGV[3]))
if refused then return refused end
local title = ARGV[9] ~= '' and redis.call('HGET', KEYS[5], ARGV[9])
local ids = {}
for at = 1, #entries, 2 do ids[#ids + 1] = entries[at] end
local articles = read_articles(ARGV[1], KEYS[2], ids, user, ARGV[11] == '1', {unpack(ARGV, 12)})
return {
  count(), entries, redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), title,
  articles, user ~= '' and saved_among(KEYS[6], ids) or {},
}
