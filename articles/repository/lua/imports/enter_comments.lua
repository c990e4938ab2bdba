--[[
Enter comments of one article with their history, in the order of their numbers. Idempotent: an existing one is left
unchanged, and so is a gap that a deleted one left. A stub is entered with its first reply.
KEYS  1 article  2 comments that have been voted on
ARGV  1 article id  2 shard prefix  3 now, s  4 first placeholder user id  5… of each comment: number, that of the comment it
      replies to or 0, when that was posted in s, time in s, when voting on it ends in s, votes, opposes, author, author's
      name, text, when it was edited in s or '', reason of its removal or '', HTML of the text, as it is
      kept, votes by members as in imports/enter, 1 if it is a stub, else ''
Returns  of each comment "ok" | "exists" | "passed" if an earlier import had it | "taken" if another comment has its number
         | "orphan" | "missing" if there is no such article; of a stub "stub"
Cost  O(comments · log N + votes of those that are open), and that of last_comments() for the last one
TOUCHES  article:<id> rw, comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw,
         comment:voters: rw, replies:<order>:<comment> rw, commented:<user> rw, gone: r, leftout: r, active: rw,
         active:<slug> rw, changes: rw, ranking: r
]]
local article, id, prefix, now = KEYS[1], ARGV[1], ARGV[2], moments(ARGV[2], ARGV[3])
local time, noted, given, imported = unpack(redis.call('HMGET', article, 'time', 'comments', 'comment_ids', 'comments_imported'))
local shown, highest, statuses, stubs, entered = as_count(noted or '0'), as_count(given or '0'), {}, {}, 0
local passed = as_count(imported) or highest

-- Return whether there is a comment with this number, and whether it was posted at this time.
local function find(number, at)
  local comment = prefix .. 'comment:' .. comment_id(id, number)
  local posted = redis.pcall('HGET', comment, 'time')
  return redis.call('EXISTS', comment) == 1, type(posted) == 'string' and tonumber(posted) == tonumber(at)
end

local function write(number, one, ...)
  local parent, comment = comment_id(id, one.parent), comment_id(id, number)
  redis.call('HSET', prefix .. 'comment:' .. comment, 'parent', parent, 'time', one.time, 'closes', one.closes,
    'votes', one.votes, 'opposes', one.opposes, ...)
  rank_reply(prefix, parent, comment, one.time, one.votes, one.opposes)
  highest, entered = math.max(highest, tonumber(number)), math.max(entered, tonumber(number))
  return comment
end

-- Return whether the comment with this number is there, posted at this time; enter it first if it is a stub.
local function is_there(number, at)
  if number == '0' then return true end
  local stub, is_taken, is_same = stubs[number], find(number, at)
  if is_taken or not stub then return is_same end
  return is_there(stub.parent, stub.parent_time) and write(number, stub, 'deleted', 1) and true
end

local function enter(one, number, author, name, text, edited, removed, html, ballots)
  local is_taken, is_same = find(number, one.time)
  if is_taken then return is_same and 'exists' or 'taken' end
  if tonumber(number) <= passed then return 'passed' end
  if not is_there(one.parent, one.parent_time) then return 'orphan' end
  if is_gone(prefix, author) then author, name = '-1', '' end
  local comment = write(number, one, 'author', author, 'author_name', name, 'text', text, 'html', html)
  if edited ~= '' then redis.call('HSET', prefix .. 'comment:' .. comment, 'edited', edited) end
  if removed == '' then
    note_changed(prefix, 'c' .. comment)
    shown = shown + 1
  else
    redis.call('HSET', prefix .. 'comment:' .. comment, 'removed', removed)
  end
  if tonumber(author) > 0 then redis.call('ZADD', prefix .. 'commented:' .. author, one.time, comment) end
  if is_open(now, tonumber(one.closes)) and one.votes + one.opposes > 0 then
    redis.call('ZADD', KEYS[2], one.closes, comment)
    local voted, oppose = prefix .. 'comment:voted:' .. comment, prefix .. 'comment:oppose:' .. comment
    enter_voters(prefix, voted, oppose, ballots, one.votes, one.opposes, tonumber(ARGV[4]))
    local left_out = leave_out_of_comment(prefix, comment)
    if left_out then rank_reply(prefix, comment_id(id, one.parent), comment, one.time, one.votes, one.opposes, left_out) end
  end
  return 'ok'
end

for at = 5, #ARGV, 15 do
  local number, parent, parent_time, posted, closes, votes, opposes = unpack(ARGV, at, at + 6)
  local one = {parent = parent, parent_time = parent_time, time = posted, closes = closes, votes = votes, opposes = opposes}
  local status = 'missing'
  if ARGV[at + 14] == '1' then stubs[number], status = one, 'stub'
  elseif as_time(time) and shown and highest then status = enter(one, number, unpack(ARGV, at + 7, at + 13)) end
  statuses[#statuses + 1] = status
end
if entered > 0 then
  redis.call('HSET', article, 'comments', shown, 'comment_ids', highest, 'comments_imported', math.max(passed, entered))
  note_last_comment(prefix, id)
end
return statuses
