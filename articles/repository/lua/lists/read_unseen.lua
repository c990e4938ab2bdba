--[[
Read the best entries of a ranking that a reader has not seen and does not hide, as far as lib/hiding decides; with titles and
links, which decide the rest, or with whole articles. Makes the ranking if it does not exist.
KEYS  1 ranking  2 ranking parameters  3 time ranking  4 group; the ranking again for one of no group
      5 ranking of all articles from which a group's is made  6 saved articles of the member; the ranking again without one
      7 titles of groups, if any are wanted
ARGV  1 shard prefix  2 entries wanted  3 most entries to examine  4 only articles posted since, s, or ''
      5 span (day|week|month), or ''  6 where the span begins, s, or ''  7 life of a ranking that is made, s
      8 up to how many articles it is made at once  9 past how many articles of the ranking of all to walk before
      10 only entries that follow this value, or ''  11 and this id of that value  12 ids that the reader has seen
      13 ids that the reader hides  14 groups  15 posters  16 hosts  17 words  18 parts of titles
      19 1 to return titles and links, or 0  20 slugs of the groups whose titles are wanted; all lists comma-separated
      21 for how many entries to read articles  22 user, or ''  23 1 to count visitors, or 0
      24 member whose read articles are hidden, or ''  25… fields of the hashes
Returns  {number of entries, {id, value, id, value …}, {version, refreshed at}, 'id value,id value …' of the hidden ones
         before the last of these, {title, link, title, link …}, titles, what read_articles() returns, {1 if saved, or 0 …}}
Cost  O(entries examined + hidden + log² N), plus the cost of `lists/read` if the ranking does not exist
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, visits:<user> r,
         <order>: r, top:<period> rw, group:<slug> r, <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r,
         ranking: rw, groups: r, saved:<user> r
]]
local prefix, want, most, since, value = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[10])
local count, part = open_ranking({
  prefix = prefix, ranking = KEYS[1], group = KEYS[4] ~= KEYS[1] and KEYS[4], whole = KEYS[5], life = ARGV[7],
  span = ARGV[5] ~= '' and ARGV[5], since = ARGV[6], few = tonumber(ARGV[8]), walked = tonumber(ARGV[9]),
})

local seen, seen_count = set_of(ARGV[12])
local user, shows_texts, hidden_ids = ARGV[22], ARGV[19] == '1', set_of(ARGV[13])
for _, id in ipairs(ARGV[24] ~= '' and redis.call('HKEYS', prefix .. 'visits:' .. ARGV[24]) or {}) do hidden_ids[id] = true end
local look_at = hiding_of(prefix, hidden_ids, ARGV[14], ARGV[15], ARGV[16], ARGV[17], ARGV[18], shows_texts)

local function is_wanted(id)
  if seen[id] then return false end
  local time = since and redis.call('ZSCORE', KEYS[3], id)
  return not since or (time and tonumber(time) >= since)
end

local found, texts, hidden, examined, refused = {}, {}, {}, 0, nil
local step = math.min(VALUES_AT_ONCE, want + seen_count)

-- Return the number of entries that do not follow the position.
local function count_before()
  local low, high = 0, value and count() or 0
  while low < high and not refused do
    local middle, one = math.floor((low + high) / 2), nil
    one, refused = part(middle, middle)
    local at = tonumber(one[2] or '-inf')
    if at < value or (at == value and one[1] < ARGV[11]) then high = middle else low = middle + 1 end
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
    if #found < 2 * want and is_wanted(id) then
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
local state, slugs, whole = redis.call('HMGET', KEYS[2], 'version', 'refreshed_at'), split(ARGV[20]), {}
local titles = KEYS[7] and redis.call('HMGET', KEYS[7], unpack(slugs)) or {}
for at = 1, math.min(#found, 2 * tonumber(ARGV[21])), 2 do whole[#whole + 1] = found[at] end
return {
  count(), found, state, table.concat(hidden, ','), texts, titles,
  #whole > 0 and read_articles(prefix, KEYS[2], whole, user, ARGV[23] == '1', {unpack(ARGV, 25)}) or {},
  #whole > 0 and user ~= '' and saved_among(KEYS[6], whole) or {},
}
