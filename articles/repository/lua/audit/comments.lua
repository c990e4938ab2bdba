--[[
Check the invariants of some comments of one shard, as many as one step can. Reads only.
KEYS  1 comments that have been voted on
ARGV  1 shard prefix  2 now, s  3 most voters to examine  4… ids
Returns  {number of comments checked, {time of each that is shown, else ''}, {id, problem, id, problem …}}
Cost  O(ids · log N + voters), bounded by 3 unless a single comment has more
TOUCHES  article:<id> r, comment:<comment> r, comment:voted:<comment> r, comment:oppose:<comment> r,
         comment:voters: r, replies:best:<comment> r, replies:time:<comment> r, commented:<user> r, gone: r,
         leftout: r, leftout:acts: r, ranking: r
INCLUDE  closing, comments, formulas, members, values
]]
local prefix, most, checked, shown, findings, examined = ARGV[1], tonumber(ARGV[3]), 0, {}, {}, 0
local now, any_left_out = moments(prefix, ARGV[2]), redis.call('EXISTS', prefix .. 'leftout:') == 1

local function check_place(say, id, parent, time, votes, opposes, left_out)
  local article = article_of(id)
  local is_top, number = parent == comment_id(article, 0), redis.call('HGET', prefix .. 'article:' .. article, 'comment_ids')
  if not number then say('there is no such article, or it has had no comments')
  elseif (as_count(number) or 0) < tonumber(string.sub(id, #article + 1)) then say('has a number beyond those given out') end
  if not is_top and (article_of(parent) ~= article or redis.call('EXISTS', prefix .. 'comment:' .. parent) == 0) then
    say('replies to ' .. parent .. ', which is not there')
  end
  local best = redis.call('ZSCORE', prefix .. 'replies:best:' .. parent, id)
  if tonumber(best or 'nan') ~= best_place(votes, opposes, left_out) then say('not among the best replies, or not by its votes') end
  local at = redis.call('ZSCORE', prefix .. 'replies:time:' .. parent, id)
  if tonumber(at or 'nan') ~= tonumber(time) then say('not among the replies, or not by its time') end
end

-- Return the members whose act is not complete. Few members are left out, so few acts are kept.
local function members_of_open_acts()
  local acts, members = redis.call('HGETALL', prefix .. 'leftout:acts:'), {}
  for n = 1, #acts, 2 do
    if string.find(acts[n + 1], ' open$') then members[#members + 1] = acts[n] end
  end
  return members
end

-- Return whether a number of a set's voters may be left out: while an act is open, it may have reached the comment or not.
local function may_be_left_out(number, voters)
  local least = #redis.call('SINTER', prefix .. 'leftout:', voters)
  if number == least then return true end
  local most = least
  for _, user in ipairs(members_of_open_acts()) do
    if redis.call('SISMEMBER', voters, user) == 1 then
      if redis.call('SISMEMBER', prefix .. 'leftout:', user) == 1 then least = least - 1 else most = most + 1 end
    end
  end
  return least <= number and number <= most
end

local function check_left_out(say, left_out, sets)
  for n, number in ipairs({counts_left_out(left_out)}) do
    if not may_be_left_out(number, sets[n]) then say('left out of ranking ' .. (left_out or 'none') .. ', other voters') end
  end
end

local function check_voters(say, id, closes, votes, opposes, left_out)
  local voted, oppose = prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id
  local noted, for_it, against = redis.call('ZSCORE', KEYS[1], id), redis.call('SCARD', voted), redis.call('SCARD', oppose)
  if not noted and for_it + against > 0 then say('voter sets that will not be dropped') end
  if noted and tonumber(noted) ~= tonumber(closes) then say('voter sets that will be dropped at the wrong time') end
  if noted or is_open(now, tonumber(closes)) then
    if for_it ~= tonumber(votes) then say('votes ' .. votes .. ', voters ' .. for_it) end
    if against ~= tonumber(opposes) then say('opposes ' .. opposes .. ', opposers ' .. against) end
  end
  if is_open(now, tonumber(closes)) and (left_out or any_left_out) then check_left_out(say, left_out, {voted, oppose}) end
  if against > 0 and #redis.call('SINTER', voted, oppose) > 0 then say('a user is in both voter sets') end
  if redis.call('TTL', voted) >= 0 or redis.call('TTL', oppose) >= 0 then say('a voter set that expires') end
  examined = examined + for_it + against
end

local function check_author(say, id, author, name)
  if not is_member(author) or tonumber(author) < 1 then return end
  if is_left_named(prefix, author, name) then say('its author is a member whose account is deleted')
  elseif not redis.call('ZSCORE', prefix .. 'commented:' .. author, id) then say('not in commented:' .. author) end
end

for at = 4, #ARGV do
  local id = ARGV[at]
  local function say(text) findings[#findings + 1], findings[#findings + 2] = id, text end
  local text, author, name, parent, time, closes, votes, opposes, removed, deleted, left_out = unpack(redis.call('HMGET',
    prefix .. 'comment:' .. id, 'text', 'author', 'author_name', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed',
    'deleted', 'left_out'))
  local whole = is_whole_comment(parent, time, closes, votes, opposes) and (deleted or text and author and name)
  shown[#shown + 1] = whole and not removed and not deleted and time or ''
  if not whole then say('no such comment, or not a whole one')
  else
    check_place(say, id, parent, time, votes, opposes, left_out)
    check_voters(say, id, closes, votes, opposes, left_out)
    if not deleted then check_author(say, id, author, name)
    elseif count_replies(prefix, id) == 0 then say('deleted, and without replies') end
    if deleted and redis.call('HEXISTS', prefix .. 'comment:' .. id, 'html') == 1 then say('deleted, but has HTML') end
  end
  checked, examined = checked + 1, examined + 10
  if examined > most then break end
end
return {checked, shown, findings}
