--[[
Check the invariants of some comments of one shard, as many as one step can. Repairing, put them into exactly the lists that
their hashes require: a comment whose parent is not there becomes a top-level one, and one whose article is not there is
dropped. Idempotent. A damaged comment keeps what it has.
KEYS  1 comments that have been voted on
ARGV  1 shard prefix  2 now, s  3 most voters to examine  4… ids
Returns  {number of comments checked, {state, time, …} of each, {id, problem, id, problem …}}; the state is "shown" | "removed"
         | "stub" | "damaged" | "missing"
Cost  O(ids · log N + voters), bounded by 3 unless a single comment has more
TOUCHES  article:<id> r, comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw,
         comment:voters: rw, replies:<order>:<comment> rw, commented:<user> rw, gone: r, leftout: r, leftout:acts: r,
         ranking: r
]]
local prefix, most, checked, states, findings, examined = ARGV[1], tonumber(ARGV[3]), 0, {}, {}, 0
local now, any_left_out = moments(prefix, ARGV[2]), redis.call('EXISTS', prefix .. 'leftout:') == 1

local function check_place(say, id, parent, time, votes, opposes, left_out)
  local article = article_of(id)
  local root, number = comment_id(article, 0), redis.call('HGET', prefix .. 'article:' .. article, 'comment_ids')
  if not number then say('there is no such article, or it has had no comments')
  elseif (as_count(number) or 0) < tonumber(string.sub(id, #article + 1)) then say('has a number beyond those given out') end
  if parent ~= root and (article_of(parent) ~= article or redis.call('EXISTS', prefix .. 'comment:' .. parent) == 0) then
    say('replies to ' .. parent .. ', which is not there')
    if REPAIRS then
      unrank_reply(prefix, parent, id)
      redis.call('HSET', prefix .. 'comment:' .. id, 'parent', root)
      parent = root
    end
  end
  local places, is_right = reply_places(time, votes, opposes, left_out), true
  for _, order in ipairs(REPLY_ORDERS) do
    local place = redis.call('ZSCORE', prefix .. REPLIES[order] .. parent, id)
    if tonumber(place or 'nan') ~= tonumber(places[order]) then
      is_right = false
      say('not among the replies by ' .. order .. ', or not in its place')
    end
  end
  if REPAIRS and not is_right then rank_reply(prefix, parent, id, time, votes, opposes, left_out) end
end

-- Return whether a number of a set's voters may be left out: while an act is open, it may have reached the comment or not.
local function may_be_left_out(number, voters)
  local least = #redis.call('SINTER', prefix .. 'leftout:', voters)
  if number == least then return true end
  local most = least
  for _, user in ipairs(redis.call('SMEMBERS', voters)) do
    if string.find(redis.call('HGET', prefix .. 'leftout:acts:', user) or '', ' open$') then
      if redis.call('SISMEMBER', prefix .. 'leftout:', user) == 1 then least = least - 1 else most = most + 1 end
    end
  end
  return least <= number and number <= most
end

-- Return the comment's field.
local function check_left_out(say, id, left_out)
  if not (left_out or any_left_out) then return left_out end
  local sets = {prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id}
  for n, number in ipairs({counts_left_out(left_out)}) do
    if not may_be_left_out(number, sets[n]) then say('left out of ranking ' .. (left_out or 'none') .. ', other voters') end
  end
  if REPAIRS then return leave_out_of_comment(prefix, id, left_out) end
  return left_out
end

local function check_voters(say, id, closes, votes, opposes)
  local voted, oppose = prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id
  local for_it, against = redis.call('SCARD', voted), redis.call('SCARD', oppose)
  local noted = redis.call('ZSCORE', KEYS[1], id)
  local has_voters, is_noted_right = for_it + against > 0, tonumber(noted or 'nan') == tonumber(closes)
  if not noted and has_voters then say('voter sets that will not be dropped') end
  if noted and not is_noted_right then say('voter sets that will be dropped at the wrong time') end
  if noted or is_open(now, tonumber(closes)) then
    if for_it ~= tonumber(votes) then say('votes ' .. votes .. ', voters ' .. for_it) end
    if against ~= tonumber(opposes) then say('opposes ' .. opposes .. ', opposers ' .. against) end
  end
  if REPAIRS and has_voters and not is_noted_right then redis.call('ZADD', KEYS[1], closes, id)
  elseif REPAIRS and noted and not has_voters then redis.call('ZREM', KEYS[1], id) end
  if against > 0 and #redis.call('SINTER', voted, oppose) > 0 then say('a user is in both voter sets') end
  if redis.call('TTL', voted) >= 0 or redis.call('TTL', oppose) >= 0 then
    say('a voter set that expires')
    if REPAIRS then
      redis.call('PERSIST', voted)
      redis.call('PERSIST', oppose)
    end
  end
  examined = examined + for_it + against
end

local function check_author(say, id, author, name, time)
  if not is_member(author) or tonumber(author) < 1 then return end
  local list = prefix .. 'commented:' .. author
  if is_left_named(prefix, author, name) then
    say('its author is a member whose account is deleted')
    if REPAIRS then
      redis.call('HSET', prefix .. 'comment:' .. id, 'author', '-1', 'author_name', '')
      redis.call('ZREM', list, id)
    end
  else
    local at = redis.call('ZSCORE', list, id)
    if not at then say('not in commented:' .. author) end
    if REPAIRS and tonumber(at or 'nan') ~= tonumber(time) then redis.call('ZADD', list, time, id) end
  end
end

local function check_deleted(say, id)
  local comment = prefix .. 'comment:' .. id
  if count_replies(prefix, id) == 0 then say('deleted, and without replies') end  -- `repair/stubs` drops it
  if redis.call('HEXISTS', comment, 'html') == 1 then
    say('deleted, but has HTML')
    if REPAIRS then redis.call('HDEL', comment, 'html') end
  end
end

for at = 4, #ARGV do
  local id = ARGV[at]
  local comment = prefix .. 'comment:' .. id
  local function say(text) findings[#findings + 1], findings[#findings + 2] = id, text end
  if REPAIRS and redis.call('EXISTS', prefix .. 'article:' .. article_of(id)) == 0 then redis.call('UNLINK', comment) end
  local text, author, name, parent, time, closes, votes, opposes, removed, deleted, left_out = unpack(redis.call('HMGET',
    comment, 'text', 'author', 'author_name', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted', 'left_out'))
  local whole = is_whole_comment(parent, time, closes, votes, opposes) and (deleted or text and author and name)
  local state = whole and (deleted and 'stub' or removed and 'removed' or 'shown')
    or redis.call('EXISTS', comment) == 1 and 'damaged' or 'missing'
  states[#states + 1], states[#states + 2] = state, time or ''
  if not whole then
    say('no such comment, or not a whole one')
    if REPAIRS and state == 'missing' then drop_comment_voters(prefix, id) end
  else
    if is_open(now, tonumber(closes)) then left_out = check_left_out(say, id, left_out) end
    check_place(say, id, parent, time, votes, opposes, left_out)
    check_voters(say, id, closes, votes, opposes)
    if deleted then check_deleted(say, id) else check_author(say, id, author, name, time) end
  end
  checked, examined = checked + 1, examined + 10
  if examined > most then break end
end
return {checked, states, findings}
