--[[
Comments: their ids, their places among the replies to the same parent, what a thread shows of each. The parent of
top-level comments is the root of the article, whose number is 0.
]]
local MISSING_IN_A_ROW = 1000  -- numbers without comments, as an import leaves them, before the thread is read

-- Return the id of an article's comment with this number; that of the root for 0.
local function comment_id(article, number)
  return article .. string.sub(COMMENTS_PER_ARTICLE + number, 2)
end

-- Return the id of the article that a comment belongs to.
local function article_of(id)
  return string.sub(id, 1, -#tostring(COMMENTS_PER_ARTICLE))
end

-- Return whether a comment has every required field, and numbers where numbers belong: the same rule as comment_from() in
-- comments/reading.py. A damaged comment is not shown and cannot be changed.
local function is_whole_comment(parent, time, closes, votes, opposes)
  return parent and as_time(time) and as_time(closes) and as_count(votes) and as_count(opposes) and true or false
end

-- Put a comment in its places among the replies to its parent.
local function rank_reply(prefix, parent, id, time, votes, opposes, left_out)
  local places = reply_places(time, votes, opposes, left_out)
  for _, order in ipairs(REPLY_ORDERS) do redis.call('ZADD', prefix .. REPLIES[order] .. parent, places[order], id) end
end

local function unrank_reply(prefix, parent, id)
  for _, order in ipairs(REPLY_ORDERS) do redis.call('ZREM', prefix .. REPLIES[order] .. parent, id) end
end

-- Return replies to a comment in an order, from number `first` on, counted from 0.
local function replies_to(prefix, id, order, first, most)
  local newest, replies = order == 'newest', prefix .. (REPLIES[order] or REPLIES.time) .. id
  return redis.call(newest and 'ZREVRANGE' or 'ZRANGE', replies, first, first + most - 1)
end

local function count_replies(prefix, id)
  return redis.call('ZCARD', prefix .. 'replies:time:' .. id)
end

local function drop_comment_voters(prefix, id)
  redis.call('UNLINK', prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id)
  redis.call('ZREM', prefix .. 'comment:voters:', id)
end

-- Drop a deleted comment that has no replies, and the stubs above it that have no others.
local function drop_comment(prefix, id)
  repeat
    local parent = redis.call('HGET', prefix .. 'comment:' .. id, 'parent')
    drop_comment_voters(prefix, id)
    redis.call('UNLINK', prefix .. 'comment:' .. id)
    unrank_reply(prefix, parent, id)
    id = parent
  until redis.call('HEXISTS', prefix .. 'comment:' .. id, 'deleted') == 0 or count_replies(prefix, id) > 0
end

-- Return the ids in an article's thread that are lower than one, ascending.
local function ids_below(prefix, article, id)
  local found, waiting = {}, {comment_id(article, 0)}
  while #waiting > 0 do
    local parent = table.remove(waiting)
    for _, reply in ipairs(redis.call('ZRANGE', prefix .. 'replies:time:' .. parent, 0, -1)) do
      waiting[#waiting + 1] = reply
      if tonumber(reply) < tonumber(id) then found[#found + 1] = reply end
    end
  end
  table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
  return found
end

-- Return a function that returns the ids that an article may have given to comments, the last one first. Call it with
-- whether the previous id has a comment. Numbers are taken one by one, until so many in a row have none that the rest of
-- the thread is read instead.
local function ids_from_last(prefix, article)
  local number = as_count(redis.call('HGET', prefix .. 'article:' .. article, 'comment_ids')) or 0
  local missing, rest = 0
  return function(has_comment)
    missing = has_comment and 0 or missing + 1
    if missing > MISSING_IN_A_ROW and not rest then rest = ids_below(prefix, article, comment_id(article, number + 1)) end
    if rest then return table.remove(rest) end
    number = number - 1
    return number >= 0 and comment_id(article, number + 1) or nil
  end
end

-- Return shown comments of an article, {id, number, time} of each, the last one first: `most` at most, and those posted
-- before `since` only as far as there are fewer than `least`. The times are taken to ascend with the numbers. O(1) for each
-- number from the last one on; O(log N) for each comment of the thread if there is a gap of numbers without comments.
local function last_comments(prefix, article, since, least, most)
  local found, next_id = {}, ids_from_last(prefix, article)
  local id = next_id(true)
  while id and #found < most do
    local time, removed, deleted = unpack(redis.call('HMGET', prefix .. 'comment:' .. id, 'time', 'removed', 'deleted'))
    if as_time(time) and not removed and not deleted then
      if #found >= least and tonumber(time) < since then break end
      found[#found + 1] = {id = id, number = tonumber(id), time = time}
    end
    id = next_id(time)
  end
  return found
end

-- Note the time of an article's last shown comment, and rank the article by it.
local function note_last_comment(prefix, id)
  local article, last = prefix .. 'article:' .. id, last_comments(prefix, id, 0, 1, 1)[1]
  local groups, removed, locked = unpack(redis.call('HMGET', article, 'groups', 'removed', 'locked'))
  if last then redis.call('HSET', article, 'last_comment', last.time)
  else redis.call('HDEL', article, 'last_comment') end
  if not removed then rank_active(prefix, id, last and tonumber(last.time), locked, split(groups)) end
end

-- Return the comments above one, nearest first, at most `most`; none for the root of an article.
local function comments_above(prefix, id, most)
  local above, root = {}, comment_id(article_of(id), 0)
  while id and id ~= root and #above < most do
    id = redis.call('HGET', prefix .. 'comment:' .. id, 'parent')
    if id and id ~= root then above[#above + 1] = id end
  end
  return above
end

-- Return a comment as a thread shows it: {id, depth, direct replies, 1 if the reader voted, 1 if opposed, field, field …},
-- without the reader's choice.
local function comment_row(prefix, id, depth, fields)
  local row = redis.call('HMGET', prefix .. 'comment:' .. id, unpack(fields))
  return {id, depth, count_replies(prefix, id), 0, 0, unpack(row, 1, #fields)}
end

-- Write a reader's choice into a row.
local function add_choice(row, prefix, reader)
  if reader == '' then return end
  row[4] = redis.call('SISMEMBER', prefix .. 'comment:voted:' .. row[1], reader)
  row[5] = redis.call('SISMEMBER', prefix .. 'comment:oppose:' .. row[1], reader)
end

-- Return a function that returns the size of a row's text in whole KB, or of its HTML if that is larger.
local function sized(prefix, fields)
  local at = {}
  for n, field in ipairs(fields) do at[field] = 5 + n end
  return function(row)
    local html = at.html and #(row[at.html] or '') or redis.call('HSTRLEN', prefix .. 'comment:' .. row[1], 'html')
    return math.floor(math.max(#(row[at.text] or ''), html) / 1000)
  end
end
