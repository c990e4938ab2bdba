--[[
Articles that were merged into another one. The field `merges` of its hash lists them: `42 1 open,57 2 done` has the id and
the number of each merge, and whether its votes still have to be moved. Once the voter sets are dropped, four counts
follow: the votes and opposes that came with it, and how many of each are left out of ranking. `merge_number` is the
last number.
`brought:` has each member whose vote came with a merged article, by its id, or by minus the id for an oppose; and, under
minus the number of the member, the last merge when the member took a choice on the article back, and a half.
]]
local function merges_in(field)
  local merges = {}
  for _, text in ipairs(split(field)) do
    local id, number, state, counts = string.match(text, '^(%d+) (%d+) (%l+) ?([%d ]*)$')
    if id then merges[#merges + 1] = {id = id, number = tonumber(number), state = state, counts = counts} end
  end
  return merges
end

local function merge_of(merges, id)
  for n, one in ipairs(merges) do
    if one.id == id then return one, n end
  end
end

-- Return whether votes of any of them still have to be moved.
local function is_any_open(merges)
  for _, one in ipairs(merges) do
    if one.state == 'open' then return true end
  end
  return false
end

-- Write what is merged into an article. `now`, in Unix seconds, is noted where votes still have to be moved.
local function write_merges(prefix, id, merges, now)
  local article, texts = prefix .. 'article:' .. id, {}
  for n, one in ipairs(merges) do
    texts[n] = table.concat({one.id, one.number, one.state}, ' ') .. (one.counts ~= '' and ' ' .. one.counts or '')
  end
  if #texts > 0 then redis.call('HSET', article, 'merges', table.concat(texts, ','))
  else redis.call('HDEL', article, 'merges', 'merge_number') end
  if is_any_open(merges) then redis.call('ZADD', prefix .. 'merging:', 'NX', now, id)
  else redis.call('ZREM', prefix .. 'merging:', id) end
end

-- Note that a member chose on an article into which others were merged: from now on no vote on these counts there, unless
-- the choice is taken back and another merge begins.
local function choose_apart(prefix, id, user, choice, number)
  local brought = prefix .. 'brought:' .. id
  if choice == 'none' then redis.call('ZADD', brought, tonumber(number) + 0.5, '-' .. user)
  else redis.call('ZREM', brought, '-' .. user) end
  redis.call('ZREM', brought, user)
end

-- Return those of some voters, {user, when, …}, who chose nothing on an article and took no choice back since a merge, and when
-- each voted on the merged one. Unnamed voters of imports cannot be told apart, and are left out.
local function voters_without_choice(prefix, id, number, voters)
  local users, marks, at, fresh, times = {}, {}, {}, {}, {}
  for n = 1, #voters, 2 do
    if is_member(voters[n]) then users[#users + 1], marks[#marks + 1], at[#at + 1] = voters[n], '-' .. voters[n], voters[n + 1] end
  end
  if #users == 0 then return fresh, times end
  local for_it = redis.call('SMISMEMBER', prefix .. 'voted:' .. id, unpack(users))
  local against = redis.call('SMISMEMBER', prefix .. 'oppose:' .. id, unpack(users))
  local taken_back = redis.call('ZMSCORE', prefix .. 'brought:' .. id, unpack(marks))
  for n, user in ipairs(users) do
    local is_fresh = for_it[n] + against[n] == 0 and not (tonumber(taken_back[n] or 0) > number)
    if is_fresh then fresh[#fresh + 1], times[#times + 1] = user, at[n] end
  end
  return fresh, times
end

-- Count the votes that came with each merged article, before the voter sets are dropped. Idempotent.
local function count_brought(prefix, id, now)
  local brought, merges = prefix .. 'brought:' .. id, merges_in(redis.call('HGET', prefix .. 'article:' .. id, 'merges'))
  if #merges == 0 then return redis.call('UNLINK', brought) end
  for _, one in ipairs(merges) do
    if one.counts == '' then
      local counts = {0, 0, 0, 0}
      for n, origin in ipairs({one.id, '-' .. one.id}) do
        counts[n] = redis.call('ZCOUNT', brought, origin, origin)
        for _, user in ipairs(redis.call('SMEMBERS', prefix .. 'leftout:' .. id)) do
          if tonumber(redis.call('ZSCORE', brought, user) or 0) == tonumber(origin) then counts[n + 2] = counts[n + 2] + 1 end
        end
      end
      one.counts = table.concat(counts, ' ')
    end
  end
  write_merges(prefix, id, merges, now)
  redis.call('UNLINK', brought)
end

-- Check some entries of `brought:`, {member, value, …}: a vote that came with a merged article is a vote here. Repairing, forget
-- where others came from.
local function check_brought(say, prefix, id, merges, entries)
  for at = 1, #entries, 2 do
    local user, value = entries[at], tonumber(entries[at + 1])
    local is_known = string.sub(user, 1, 1) == '-' and #merges > 0
    if not is_known and merge_of(merges, string.format('%d', math.abs(value))) then
      local set = value > 0 and prefix .. 'voted:' .. id or prefix .. 'oppose:' .. id
      is_known = redis.call('SISMEMBER', set, user) == 1
    end
    if not is_known then
      say('the vote of ' .. user .. ' came with ' .. exactly(math.abs(value)) .. ', but is not here, or that is not merged')
      if REPAIRS then redis.call('ZREM', prefix .. 'brought:' .. id, user) end
    end
  end
end
