--[[
Read the best entries of a ranking that a reader has not seen and does not hide, as far as lib/hiding decides; with titles and
links, which decide the rest, or with whole articles. Makes the ranking if it does not exist.
KEYS  1 ranking  2 ranking parameters  3 group, and  4 ranking of all articles, as for lists/read  5 saved articles of the
      member; the ranking again without one  6 titles of groups, if any are wanted
ARGV  1 shard prefix  2 entries wanted  3 most entries to examine  4 span  5 where it begins  6 life
      7 up to how many articles  8 past how many, all as for lists/read
      9 only entries that follow this value, or ''  10 and this id of that value  11 ids that the reader has seen
      12 ids that the reader hides  13 groups  14 posters  15 hosts  16 words  17 parts of titles
      18 1 to return titles and links, or 0  19 slugs of the groups whose titles are wanted; all lists comma-separated
      20 for how many entries to read articles  21 user, or ''  22 1 to count visitors, or 0
      23 member whose read articles are hidden, or ''  24… fields of the hashes
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}, 'id value,id value …' of the hidden ones
         before the last of these, {title, link, title, link …}, titles, what read_articles() returns, {1 if saved, or 0 …}}
Cost  O(entries examined + hidden + log² N), plus the cost of `lists/read` if the ranking does not exist
TOUCHES  article:<id> r, votes:<user> r, opposes:<user> r, visits:<user> r,
         <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r,
         ranking: rw, groups: r, saved:<user> r
]]
local prefix, want, most, value = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[9])
local count, part = open_ranking(KEYS, ARGV)

local seen, seen_count = set_of(ARGV[11])
local user, shows_texts, hidden_ids = ARGV[21], ARGV[18] == '1', set_of(ARGV[12])
for _, id in ipairs(ARGV[23] ~= '' and redis.call('HKEYS', prefix .. 'visits:' .. ARGV[23]) or {}) do hidden_ids[id] = true end
local look_at = hiding_of(prefix, hidden_ids, ARGV[13], ARGV[14], ARGV[15], ARGV[16], ARGV[17], shows_texts)

local found, texts, hidden, examined, refused = {}, {}, {}, 0, nil
local step = math.min(VALUES_AT_ONCE, want + seen_count)

-- Return the number of entries that do not follow the position.
local function count_before()
  local low, high = 0, value and count() or 0
  while low < high and not refused do
    local middle, one = math.floor((low + high) / 2), nil
    one, refused = part(middle, middle)
    local at = tonumber(one[2] or '-inf')
    if at < value or (at == value and one[1] < ARGV[10]) then high = middle else low = middle + 1 end
  end
  return low
end

local first = count_before()
if refused then return refused end
while #found < 2 * want and examined < math.min(count() - first, most) do
  local entries
  entries, refused = part(first + examined, first + math.min(examined + step, most) - 1)
  for at = 1, #entries, 2 do
    local id = entries[at]
    if #found < 2 * want and not seen[id] then
      local is_hidden, title, link = look_at(id)
      if is_hidden then
        hidden[#hidden + 1] = id .. ' ' .. entries[at + 1]
      else
        found[#found + 1], found[#found + 2] = id, entries[at + 1]
        if shows_texts then texts[#texts + 1], texts[#texts + 2] = title, link end
      end
    end
  end
  examined = refused and most or examined + step
end
if refused and #found < 2 * want then return refused end
local state, slugs, whole = redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), split(ARGV[19]), {}
local titles = KEYS[6] and redis.call('HMGET', KEYS[6], unpack(slugs)) or {}
for at = 1, math.min(#found, 2 * tonumber(ARGV[20])), 2 do whole[#whole + 1] = found[at] end
return {
  count(), found, state, table.concat(hidden, ','), texts, titles,
  #whole > 0 and read_articles(prefix, KEYS[2], whole, user, ARGV[22] == '1', {unpack(ARGV, 24)}) or {},
  #whole > 0 and user ~= '' and saved_among(KEYS[5], whole) or {},
}
