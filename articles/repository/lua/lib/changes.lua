--[[
What the search index, and mirrors of the site, have to read again.
]]
-- Return the server's own time, in microseconds: changes are in its order.
local function time_of_change()
  local seconds, microseconds = unpack(redis.call('TIME'))
  return seconds * 1e6 + microseconds
end

-- Note that what search finds or orders an article or, after a 'c', a comment by has changed. The oldest notes are dropped: an index that
-- has not read them is built again.
local function note_changed(prefix, id)
  local is_new = redis.call('ZADD', prefix .. 'changes:', time_of_change(), id) == 1
  if is_new then redis.call('ZREMRANGEBYRANK', prefix .. 'changes:', 0, -CHANGES_KEPT - 1) end
end

-- The same for several articles.
local function note_all_changed(prefix, ids)
  if #ids == 0 then return end
  local now, notes = time_of_change(), {}
  for _, id in ipairs(ids) do notes[#notes + 1], notes[#notes + 2] = now, id end
  in_batches(notes, function(...) redis.call('ZADD', prefix .. 'changes:', ...) end)
  redis.call('ZREMRANGEBYRANK', prefix .. 'changes:', 0, -CHANGES_KEPT - 1)
end
