--[[
Add up the votes for a part of a shard's articles or comments, and their members' choices. Reads only.
KEYS  1 ranking that holds them
ARGV  1 shard prefix  2 "comments" or "articles"  3 how many of the ranking to skip  4 most entries to read
Returns  {number of articles or comments read, 0 at the end; sum of votes and opposes; sum of choices}, sums in which
         each number counts by whose it is
Cost  O(entries), bounded by 4 unless a single article has more
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, comment:<comment> r, comment:voted:<comment> r,
         comment:oppose:<comment> r, comment:voters: r, time: r, removed: r
INCLUDE  none
]]
local AT_ONCE, MODULUS = 500, 65521
local prefix, first, most = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local read, entries, votes, choices = 0, 0, 0, 0

local function names(id)
  if ARGV[2] == 'articles' then return prefix .. 'article:' .. id, {prefix .. 'voted:' .. id, prefix .. 'oppose:' .. id} end
  return prefix .. 'comment:' .. id, {prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id}
end

for _, id in ipairs(redis.call('ZRANGE', KEYS[1], first, first + AT_ONCE - 1)) do
  local weight = tonumber(id) % MODULUS + 1
  local hash, sets = names(id)
  local counts = redis.call('HMGET', hash, 'votes', 'opposes')
  for n, set in ipairs(sets) do
    votes = votes + weight * n * (tonumber(counts[n] or '') or 0)
    for _, user in ipairs(redis.call('SMEMBERS', set)) do
      choices = choices + weight * n * ((tonumber(user) or 0) % MODULUS + 1)
      entries = entries + 1
    end
  end
  read, entries = read + 1, entries + 3
  if entries > most then break end
end
return {read, string.format('%.0f', votes), string.format('%.0f', choices)}
