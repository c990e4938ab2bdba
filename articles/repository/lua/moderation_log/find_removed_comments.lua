--[[
Read the latest removals of comments that are removed now, newest first, from a part of a shard's moderation log. Reads only.
KEYS  1 log
ARGV  1 number of the entry to begin with, '' for the newest before a time  2 this time, s; 'inf' for none  3 most entries
      4 most comments  5 shard prefix  6… fields of a comment
Returns  {number of the next entry, 0 if there is none; time of the last one read, s, as text; {entry, as JSON; id of the
         comment; the values of its fields …} …}
Cost  O(log entries + read entries + 50 · comments)
TOUCHES  article:<id> r, comment:<comment> r, log: r
]]
local entries, before, prefix = KEYS[1], tonumber(ARGV[2]), ARGV[5]

-- Return the row of an entry if it is the latest removal of a comment that is removed now, and for the same reason.
local function row_of(text, entry)
  local id = entry.action == 'remove-comment' and type(entry.details.comment) == 'string' and entry.details.comment
  local comment = id and redis.call('HMGET', prefix .. 'comment:' .. id, 'removed', 'deleted', unpack(ARGV, 6))
  if not comment or comment[1] ~= entry.reason or comment[2] then return nil end
  if (latest_entry(prefix, tostring(entry.id), 'remove-comment', id) or text) ~= text then return nil end
  return {text, id, unpack(comment, 3, #ARGV - 3)}
end

local number = ARGV[1] == '' and newest_before(entries, before) or tonumber(ARGV[1])
local last = math.min(-1, tonumber(ARGV[3]) - 1 - number)
local reached, rows = 'inf', {}
for _, text in ipairs(number > 0 and redis.call('LRANGE', entries, -number, last) or {}) do
  if #rows == tonumber(ARGV[4]) then break end
  local entry = entry_in(text)
  if entry then
    reached = tostring(entry.at)
    if tonumber(reached) < before then rows[#rows + 1] = row_of(text, entry) end
  end
  number = number - 1
end
return {number, reached, unpack(rows)}
