--[[
What the search index has to read again.
INCLUDE  values
]]
-- Note that what search finds or orders an article or, after a 'c', a comment by has changed. The oldest notes are dropped: an index that
-- has not read them is built again. The time is the server's own, so that notes come in their order.
local function note_changed(prefix, id)
  local seconds, microseconds = unpack(redis.call('TIME'))
  local is_new = redis.call('ZADD', prefix .. 'changes:', seconds * 1e6 + microseconds, id) == 1
  if is_new then redis.call('ZREMRANGEBYRANK', prefix .. 'changes:', 0, -CHANGES_KEPT - 1) end
end

-- The same for several articles.
local function note_all_changed(prefix, ids)
  if #ids == 0 then return end
  local seconds, microseconds = unpack(redis.call('TIME'))
  local notes = {}
  for _, id in ipairs(ids) do notes[#notes + 1], notes[#notes + 2] = seconds * 1e6 + microseconds, id end
  in_batches(notes, function(...) redis.call('ZADD', prefix .. 'changes:', ...) end)
  redis.call('ZREMRANGEBYRANK', prefix .. 'changes:', 0, -CHANGES_KEPT - 1)
end
