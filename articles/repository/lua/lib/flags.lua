--[[
Flags of comments and articles. They are a hash of members under the id of the comment, or under the root of the article's
comments. A flag is open until moderators remove what is flagged, or keep it; each member's own list says which.
]]
local STATES = {open = 0, removed = 1, kept = -1}  -- of flags, as the members' lists hold them
local RULES = '0'  -- in the place of a member, for a flag by rules of the moderators, who have no list
local WITHDRAWAL = 'withdrawal'  -- reason of a request, not a flag: a poster asks to withdraw the article

-- Return whether there is such a comment or article, and whether readers see it, at least where it was merged into another.
local function has_subject(prefix, id)
  local article = article_of(id)
  local is_article = comment_id(article, 0) == id
  local key = is_article and prefix .. 'article:' .. article or prefix .. 'comment:' .. id
  local time, removed, deleted, merged = unpack(redis.call('HMGET', key, 'time', 'removed', 'deleted', 'merged'))
  return time and not deleted, time and (merged or not removed)
end

-- Return whether it is an article that was merged into another one: its flags wait until it is on its own again.
local function is_merged(prefix, subject)
  local article = article_of(subject)
  local into = comment_id(article, 0) == subject and redis.call('HGET', prefix .. 'article:' .. article, 'merged')
  return type(into) == 'string'
end

-- Return the parts of a flag, nil for a damaged one: its reason, its time in Unix seconds, its weight, its state, its words.
local function flag_parts(text)
  local reason, at, weight, state, words = string.match(text or '', '^(%S+) (%S+) (%S+) (%S+) (.*)$')
  if reason and as_time(at) and as_number(weight) and STATES[state] then
    return reason, tonumber(at), tonumber(weight), state, words
  end
end

-- Return the score of a flag in the list of its member; nil for a damaged one. Decided requests to withdraw have half
-- scores, which do not count for the weight of the member's flags.
local function flag_score(text)
  local reason, _, _, state = flag_parts(text)
  return state and STATES[state] * (reason == WITHDRAWAL and 0.5 or 1)
end

-- Note a flag in the list of its member, or take it off without a text.
local function list_flag(prefix, user, subject, text)
  if user == RULES then return end
  local list = prefix .. 'flags:by:' .. user
  if text then redis.call('ZADD', list, flag_score(text), subject) else redis.call('ZREM', list, subject) end
end

-- Return the flags of a comment or an article, {{user, text}, …}.
local function flags_of(prefix, subject)
  local values, flags = redis.call('HGETALL', prefix .. 'flags:' .. subject), {}
  for n = 1, #values, 2 do
    if as_count(values[n]) then flags[#flags + 1] = {values[n], values[n + 1]} end
  end
  return flags
end

-- Return the weight of the open flags, and the place in the queue that they give: the heaviest first, then the one that
-- waits longest; no place without an open flag.
local function queue_place(flags)
  local sum, first = 0, nil
  for _, flag in ipairs(flags) do
    local _, at, weight, state = flag_parts(flag[2])
    if state == 'open' then sum, first = sum + weight, math.min(first or at, at) end
  end
  return sum, first and math.floor(sum * 100 + 0.5) * ONE_POINT + ONE_POINT - 1 - math.floor(first)
end

-- Put a comment or an article into the queue, or take it out, by its flags; return the weight of those that are open.
local function queue_flagged(prefix, subject, flags)
  local sum, place = queue_place(flags)
  if is_merged(prefix, subject) or not place then redis.call('ZREM', prefix .. 'flagged:', subject)
  else redis.call('ZADD', prefix .. 'flagged:', exactly(place), subject) end
  return sum
end

-- Decide the open flags of a comment or an article that are no newer than `latest`: 'removed' or 'kept'. Return who set
-- them, {user, …}.
local function decide_flags(prefix, subject, state, latest)
  local decided, flags = {}, flags_of(prefix, subject)
  for _, flag in ipairs(flags) do
    local reason, at, weight, was, words = flag_parts(flag[2])
    if was == 'open' and at <= latest then
      flag[2] = table.concat({reason, string.format('%.3f %.2f', at, weight), state, words}, ' ')
      redis.call('HSET', prefix .. 'flags:' .. subject, flag[1], flag[2])
      list_flag(prefix, flag[1], subject, flag[2])
      decided[#decided + 1] = flag[1]
    end
  end
  queue_flagged(prefix, subject, flags)
  return decided
end

-- Drop the flags of a comment that is deleted.
local function drop_flags(prefix, subject)
  for _, flag in ipairs(flags_of(prefix, subject)) do list_flag(prefix, flag[1], subject) end
  redis.call('UNLINK', prefix .. 'flags:' .. subject)
  redis.call('ZREM', prefix .. 'flagged:', subject)
end
