--[[
Read comments of an article, each followed by its replies, with a reader's choices: top-level ones, or one comment and
its replies, without those that do not exist. Reads only. What is not shown is not read.
KEYS  1 article
ARGV  1 parent: a comment, which then comes first, or the article's root  2 order (best|newest|oldest)  3 reader, or ''
      4 direct replies of the parent to skip  5 most comments, of which one counts again for each whole KB
      6 greatest depth  7 shard prefix  8… fields of a comment, the first of which every one has
Returns  {"ok", {number of shown comments of the article, reason why it is locked}, {comments above the parent, nearest
         first}, number of direct replies to skip for the next part or -1, row, row …}; each row is what comment_row()
         returns, with the choice | {"missing"} | {"removed"} | {"no_comment"}
Cost  O(log N + comments), bounded by 5
TOUCHES  article:<id> r, comment:<comment> r, comment:voted:<comment> r, comment:oppose:<comment> r,
         replies:best:<comment> r, replies:time:<comment> r
INCLUDE  comments, values
]]
local parent, reader, start, prefix = ARGV[1], ARGV[3], tonumber(ARGV[4]), ARGV[7]
local left, deepest, fields = tonumber(ARGV[5]), tonumber(ARGV[6]), {unpack(ARGV, 8)}
local best, newest, root = ARGV[2] == 'best', ARGV[2] == 'newest', comment_id(article_of(parent), 0)
local time, removed, shown, locked = unpack(redis.call('HMGET', KEYS[1], 'time', 'removed', 'comments', 'locked'))
if not as_time(time) then return {parent == root and 'missing' or 'no_comment'} end
if removed then return {'removed'} end
local reply = {'ok', {as_count(shown) or 0, locked}, comments_above(prefix, parent, deepest), -1}

local function show(id, depth)
  local row = comment_row(prefix, id, depth, fields)
  if not row[6] then return end
  if reader ~= '' then
    row[4] = redis.call('SISMEMBER', prefix .. 'comment:voted:' .. id, reader)
    row[5] = redis.call('SISMEMBER', prefix .. 'comment:oppose:' .. id, reader)
  end
  reply[#reply + 1], left = row, left - 1 - kilobytes_of(row)
  return row
end

local function replies(id, first)
  if best then return redis.call('ZRANGE', prefix .. 'replies:best:' .. id, first, first + left - 1) end
  return redis.call(newest and 'ZREVRANGE' or 'ZRANGE', prefix .. 'replies:time:' .. id, first, first + left - 1)
end

-- Return how many replies to a comment have been shown, or come before.
local function show_replies(id, depth, first)
  for _, one in ipairs(left > 0 and replies(id, first) or {}) do
    if left < 1 then break end
    local row = show(one, depth)
    if row and row[3] > 0 and depth < deepest then show_replies(one, depth + 1, 0) end
    first = first + 1
  end
  return first
end

if parent ~= root and not show(parent, 0) then return {'no_comment'} end
local passed = show_replies(parent, parent == root and 0 or 1, start)
if passed < count_replies(prefix, parent) then reply[4] = passed end
return reply
