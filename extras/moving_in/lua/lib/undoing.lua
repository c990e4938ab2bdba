--[[
What others did with an article since an import brought it, and its discussion as a whole. An act is `log`, `merge`, `deletion`,
`extra`, `edit`, `flag`, `vote=<user>` or `answer=<comment>=<author>`.
]]
local ACTS_BY_FIELD = {merged = 'merge', merges = 'merge', deleted = 'deletion'}

-- Add the votes of members. `choice`: one of CHOICES on an article, of which the lists of members have the times; votes on
-- comments have none. Return how many voters there are.
local function add_votes(add, prefix, id, voters, since, choice)
  local users = redis.call('SMEMBERS', voters)
  for _, user in ipairs(users) do
    local at = choice and is_member(user) and tonumber(redis.call('ZSCORE', prefix .. choice.list .. user, id) or '')
    if is_member(user) and not (at and at < since) then add({'vote=' .. user}) end
  end
  return #users
end

-- Add what was done with an article, without its comments. Return how many voters it has.
local function add_acts(add, prefix, id, since)
  local article, count = prefix .. 'article:' .. id, 0
  for field, act in pairs(ACTS_BY_FIELD) do
    if redis.call('HEXISTS', article, field) == 1 then add({act}) end
  end
  local numbers = split(redis.call('HGET', article, 'log'))
  local newest = #numbers > 0 and entry_in(redis.call('LINDEX', prefix .. 'log:', -(as_count(numbers[#numbers]) or 1)) or '')
  if newest and tonumber(newest.at) >= since then add({'log'}) end  -- others came with it
  for _, field in ipairs(FIELDS_OF_EXTRAS) do
    if redis.call('HEXISTS', article, field) == 1 then add({'extra'}) end
  end
  if (as_time(redis.call('HGET', article, 'edited')) or 0) >= since then add({'edit'}) end
  if redis.call('EXISTS', prefix .. 'flags:' .. root_of(id)) == 1 then add({'flag'}) end
  for _, one in ipairs(CHOICES) do count = count + add_votes(add, prefix, id, prefix .. one.set .. id, since, one) end
  return count
end

-- Add what was done with a comment, or that it is new. Return how many voters it has.
local function add_acts_on_comment(add, prefix, id, since)
  local author, time, edited = unpack(redis.call('HMGET', prefix .. 'comment:' .. id, 'author', 'time', 'edited'))
  if not time then return 0 end
  if tonumber(time) >= since then add({'answer=' .. id .. '=' .. (author or '-1')}) end
  if (as_time(edited) or 0) >= since then add({'edit'}) end
  if redis.call('EXISTS', prefix .. 'flags:' .. id) == 1 then add({'flag'}) end
  return add_votes(add, prefix, id, prefix .. 'comment:voted:' .. id, since)
    + add_votes(add, prefix, id, prefix .. 'comment:oppose:' .. id, since)
end

-- Return what was done with an article since a moment, {number of the comment to continue from, 0 at the end, act …}; with
-- `number` 0 with all of it, else with comments from that number on; as far as `most` comments and voters go.
local function acts_since(prefix, id, since, number, most)
  local acts, add = distinct()
  local last = as_count(redis.call('HGET', prefix .. 'article:' .. id, 'comment_ids')) or 0
  if number == 0 then most = most - add_acts(add, prefix, id, since) end
  while number < last and most > 0 do
    number = number + 1
    most = most - 1 - add_acts_on_comment(add, prefix, comment_id(id, number), since)
  end
  table.sort(acts)
  table.insert(acts, 1, number < last and number or 0)
  return acts
end

-- Drop up to `most` comments of an article, each after its replies. Return 1 if any are left, else 0.
local function drop_comments(prefix, article, most)
  local root, dropped = root_of(article), {}
  local path = {root}
  while #dropped < most do
    local id = path[#path]
    local reply = redis.call('ZRANGE', prefix .. 'replies:time:' .. id, 0, 0)[1]
    if reply then path[#path + 1] = reply
    elseif id == root then break
    else
      path[#path] = nil
      local author = redis.call('HGET', prefix .. 'comment:' .. id, 'author')
      if tonumber(author or 0) > 0 then redis.call('ZREM', prefix .. 'commented:' .. author, id) end
      drop_comment_voters(prefix, id)
      redis.call('UNLINK', prefix .. 'comment:' .. id)
      unrank_reply(prefix, path[#path], id)
      dropped[#dropped + 1] = 'c' .. id
    end
  end
  note_all_changed(prefix, dropped)
  return redis.call('EXISTS', prefix .. 'replies:time:' .. root)
end
