--[[
Read the newest shown comments of listed articles, or of one article. Reads only.
KEYS  1 discussions, the ranking by last comment
ARGV  1 id of the article, or ''  2 since, s: all comments from then on are read  3 fewest comments that are read, of any age
      4 most comments, of which one counts again for each whole KB  5 shard prefix  6… fields of a comment
Returns  {row, row …}, newest first; each row is what comment_row() returns
Cost  O(most · log most), and that of last_comments() for each article among them
TOUCHES  article:<id> r, comment:<comment> r, replies:time:<comment> r, active: r
]]
local since, least, most, prefix, fields = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], {unpack(ARGV, 6)}
local found, rows, size, kilobytes_of = {}, {}, 0, sized(prefix, fields)

-- Keep the newest of the comments found: an older one than all of these is no longer wanted.
local function keep_newest()
  table.sort(found, function(a, b) return a.time > b.time or (a.time == b.time and a.number > b.number) end)
  for n = #found, most + 1, -1 do found[n] = nil end
  if #found == most then since, least = math.max(since, found[most].time), 0 end
end

local function collect(article)
  for _, one in ipairs(last_comments(prefix, article, since, least, most)) do
    one.time = tonumber(one.time)
    found[#found + 1] = one
  end
  if #found >= 2 * most then keep_newest() end
end

-- Look through a part of the ranking, of open or of locked discussions; `later`: what to add to its values to get times.
local function look_through(highest, lowest, later)
  local seen, entries = 0
  repeat
    entries = redis.call('ZREVRANGEBYSCORE', KEYS[1], highest, lowest, 'WITHSCORES', 'LIMIT', seen, 100)
    for at = 1, #entries, 2 do
      if seen >= least and entries[at + 1] + later < since then return end
      collect(entries[at])
      seen = seen + 1
    end
  until #entries < 200
end

if ARGV[1] ~= '' then collect(ARGV[1])
else for _, part in ipairs({{'+inf', 0, 0}, {'(0', '-inf', LATEST}}) do look_through(unpack(part)) end end
keep_newest()
for _, one in ipairs(found) do
  local row = comment_row(prefix, one.id, 0, fields)
  rows[#rows + 1], size = row, size + 1 + kilobytes_of(row)
  if size > most then rows[#rows] = nil break end
end
return rows
