--[[
Redactions: texts that are replaced for good. A redactor says which, and notes in how many places, and in what, it replaced
one.
]]
local PARTS = {'title', 'link', 'text', 'reason'}

-- Return a redactor that replaces these texts by a mark.
local function redactor(mark, texts)
  local hidden = {}
  for _, text in ipairs(texts) do hidden[text] = true end
  return {mark = mark, hidden = hidden, places = 0, parts = {}}
end

-- Return whether a text is to be replaced; nothing is for a missing one.
local function hides(by, text)
  return by.hidden[text or false] or false
end

-- Return what is shown in the place of a text: the mark, or the text itself. `part`: one of PARTS.
local function redacted(by, text, part)
  if not hides(by, text) then return text end
  by.places, by.parts[part] = by.places + 1, true
  return by.mark
end

-- Return the parts in which a text was replaced, comma-separated.
local function redacted_parts(by)
  local names = {}
  for _, part in ipairs(PARTS) do names[#names + 1] = by.parts[part] and part or nil end
  return table.concat(names, ',')
end

local function redact_field(by, key, field, part)
  local text = redis.call('HGET', key, field)
  if hides(by, text) then redis.call('HSET', key, field, redacted(by, text, part)) end
end

-- Replace texts of an entry of a list, but no name of a member. Return the entry, and whether it was changed; nil for a
-- damaged one.
local function redact_entry(by, list, index)
  local is_json, entry = pcall(cjson.decode, redis.call('LINDEX', list, index) or '')
  if not is_json or type(entry) ~= 'table' then return nil end
  local before, details = by.places, type(entry.details) == 'table' and entry.details or {}
  entry.reason = redacted(by, entry.reason, 'reason')
  if not names_member(entry) then entry.title = redacted(by, entry.title, 'title') end
  details.old_title, details.old_link = redacted(by, details.old_title, 'title'), redacted(by, details.old_link, 'link')
  if by.places > before then redis.call('LSET', list, index, cjson.encode(entry)) end
  return entry, by.places > before
end

-- Replace the reason for the removal of a comment, and its text while it is removed.
local function redact_comment(by, key)
  local removed, text = unpack(redis.call('HMGET', key, 'removed', 'text'))
  redact_field(by, key, 'removed', 'reason')
  if removed and hides(by, text) then
    redis.call('HSET', key, 'text', redacted(by, text, 'text'))
    redis.call('HDEL', key, 'html')
  end
end
