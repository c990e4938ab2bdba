--[[
Read comments of an article, each followed by its replies, with a reader's choices: top-level ones, or one comment and
its replies, without those that do not exist. Reads only. What is not shown is not read.
KEYS  1 article
ARGV  1 parent: a comment, which then comes first, or the article's root  2 order (best|newest|oldest)  3 reader, or ''
      4 direct replies of the parent to skip  5 most comments, of which one counts again for each whole KB
      6 greatest depth  7 shard prefix  8 further direct replies to skip, comma-separated
      9 time, s, and  10 id of a direct reply: in an order by time, only those that follow it; or ''
      11… fields of a comment, the first of which every one has
Returns  {"ok", {number of shown comments of the article, reason why it is locked}, {comments above the parent, nearest
         first}, {direct replies of this part} or nil if none follow, row, row …}; each row is what comment_row()
         returns, with the choice | {"missing"} | {"removed"} | {"no_comment"}
Cost  O(log N + comments), bounded by 5
TOUCHES  article:<id> r, comment:<comment> r, comment:voted:<comment> r, comment:oppose:<comment> r,
         replies:<order>:<comment> r
]]
local parent, reader, start, prefix = ARGV[1], ARGV[3], tonumber(ARGV[4]), ARGV[7]
local left, deepest, fields = tonumber(ARGV[5]), tonumber(ARGV[6]), {unpack(ARGV, 11)}
local kilobytes_of, order, root = sized(prefix, fields), ARGV[2], comment_id(article_of(parent), 0)
local time, removed, merged, shown, locked =
  unpack(redis.call('HMGET', KEYS[1], 'time', 'removed', 'merged', 'comments', 'locked'))
if not as_time(time) then return {parent == root and 'missing' or 'no_comment'} end
if removed and not merged then return {'removed'} end
local reply = {'ok', {as_count(shown) or 0, locked}, comments_above(prefix, parent, deepest), false}

-- Return the number of replies to what is shown; -1 if the comment does not exist.
local function show(id, depth)
  local row = comment_row(prefix, id, depth, fields)
  if not row[6] then return -1 end
  add_choice(row, prefix, reader)
  reply[#reply + 1], left = row, left - 1 - kilobytes_of(row)
  return row[3]
end

local others, skipped, passed = split(ARGV[8]), {}, {}
if ARGV[9] ~= '' then start, others = up_to(prefix .. 'replies:time:' .. parent, order == 'newest', ARGV[9], ARGV[10]) end
for _, one in ipairs(others) do skipped[one] = true end

-- Return how many replies to a comment have been shown, were skipped, or come before.
local function show_replies(id, depth, first)
  local most = left + (id == parent and #others or 0)
  for _, one in ipairs(left > 0 and replies_to(prefix, id, order, first, most) or {}) do
    if not skipped[one] then
      if left < 1 then break end
      if id == parent then passed[#passed + 1] = one end
      if show(one, depth) > 0 and depth < deepest then show_replies(one, depth + 1, 0) end
    end
    first = first + 1
  end
  return first
end

if parent ~= root and show(parent, 0) < 0 then return {'no_comment'} end
start = show_replies(parent, parent == root and 0 or 1, start)
if start < count_replies(prefix, parent) then reply[4] = passed end
return reply
