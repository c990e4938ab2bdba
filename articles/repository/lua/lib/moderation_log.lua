--[[
The moderation log, and the numbers of its entries that each article's hash holds. Entries are numbered from the oldest.
Members are notified of actions on their content.
]]
local ENTRIES_SEARCHED = 50  -- of an article's, for the one that a notice is about; or around a moment

-- Return the name in a signature, `Actor.signature` in `articles/domain/moderation_log.py`, and the groups in it or nil.
local function signed_by(actor)
  local name, groups = string.match(actor, '^([^\n]*)\n(.*)$')
  return name or actor, groups
end

-- Append an entry and return its number. `at` is in Unix seconds, as text; `actor` a name or a signature; `id` is 0 for an
-- entry that concerns no article.
local function log(prefix, action, at, actor, id, title, reason, details)
  local name, groups = signed_by(actor)
  if groups then details.capacity = groups end
  return redis.call('LPUSH', prefix .. 'log:', cjson.encode({
    action = action, at = at, actor = name, id = id, title = title, reason = reason, details = details,
  }))
end

-- The same for an entry that concerns an article: its hash notes the number.
local function log_and_note(prefix, action, at, actor, id, title, reason, details)
  local article, number = prefix .. 'article:' .. id, log(prefix, action, at, actor, id, title, reason, details)
  local noted = redis.call('HGET', article, 'log')
  redis.call('HSET', article, 'log', noted and noted .. ',' .. number or number)
end

-- The same for an act on an article, of which its poster is notified.
local function log_article(prefix, action, at, actor, id, title, reason, details)
  log_and_note(prefix, action, at, actor, id, title, reason, details)
  local poster, name = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'poster', 'poster_name'))
  if name ~= signed_by(actor) then notify(prefix, poster, action, root_of(id), at) end
end

-- The same for an act on a comment, of which its author is notified.
local function log_comment(prefix, action, at, actor, id, comment, title, reason)
  log_and_note(prefix, action, at, actor, id, title, reason, {comment = comment})
  local author, name = unpack(redis.call('HMGET', prefix .. 'comment:' .. comment, 'author', 'author_name'))
  if name ~= signed_by(actor) then notify(prefix, author, action, comment, at) end
end

-- Return the entry in a text; nil for a damaged one.
local function entry_in(text)
  local is_json, entry = pcall(cjson.decode, text)
  return is_json and type(entry) == 'table' and tonumber(entry.at) and type(entry.details) == 'table' and entry or nil
end

-- Return whether the title of an entry is the name of a member.
local function names_member(entry)
  local act = type(entry.details) == 'table' and entry.details.about or entry.action or ''
  local is_one = false
  for _, ending in ipairs({'ban$', 'branch$', 'votes$', 'about$', 'permissions$'}) do is_one = is_one or string.find(act, ending) ~= nil end
  return tostring(entry.id) == '0' and is_one
end

-- Return the highest number of an entry that is older than a moment. Damaged entries count as older: they are passed over.
local function newest_before(list, moment)
  local low, high = 0, redis.call('LLEN', list)
  while moment < math.huge and low < high do
    local middle = math.ceil((low + high) / 2)
    local entry = entry_in(redis.call('LINDEX', list, -middle))
    if not entry or tonumber(entry.at) < moment then low = middle else high = middle - 1 end
  end
  return high
end

-- Return the numbers of the entries that concern no article and were logged at a moment.
local function numbers_at(list, moment)
  local near, found = newest_before(list, moment), {}
  for number = math.max(1, near - ENTRIES_SEARCHED), redis.call('LLEN', list) do
    local entry = entry_in(redis.call('LINDEX', list, -number))
    local at = entry and tonumber(entry.at) or moment
    if at > moment and number > near + ENTRIES_SEARCHED then break end
    if entry and at == moment and tostring(entry.id) == '0' then found[#found + 1] = number end
  end
  return found
end

-- Return the id in an entry's text, as text; '0' where it concerns no article or is damaged.
local function id_of_entry(text)
  local is_json, entry = pcall(cjson.decode, text)
  return is_json and type(entry) == 'table' and tostring(entry.id) or '0'
end

-- Return the newest entry about this act on an article, or on the comment `subject` of it, as text; false without one.
local function latest_entry(prefix, article, action, subject)
  local numbers = split(redis.call('HGET', prefix .. 'article:' .. article, 'log'))
  for n = #numbers, math.max(1, #numbers - ENTRIES_SEARCHED + 1), -1 do
    local number = as_count(numbers[n]) or 0
    local text = number > 0 and redis.call('LINDEX', prefix .. 'log:', -number) or ''
    local is_json, entry = pcall(cjson.decode, text)
    if is_json and type(entry) == 'table' and entry.action == action and type(entry.details) == 'table'
      and (entry.details.comment or root_of(article)) == subject then return text end
  end
  return false
end

-- Look at `step` entries after the oldest `done`. Return, for each article they concern that exists,
-- {id, key of its hash, {numbers of the entries that the hash lacks}}, and how many entries there were.
local function unnoted_entries(prefix, list, done, step)
  local entries, noted, found = redis.call('LRANGE', list, -done - step, -done - 1), {}, {}
  for n = #entries, 1, -1 do
    local id, number = id_of_entry(entries[n]), done + #entries - n + 1
    local article = prefix .. 'article:' .. id
    if noted[id] == nil then
      noted[id] = id ~= '0' and redis.call('EXISTS', article) == 1 and {missing = {}}
      for _, known in ipairs(noted[id] and split(redis.call('HGET', article, 'log')) or {}) do
        noted[id][tonumber(known) or 0] = true
      end
      if noted[id] then found[#found + 1] = {id, article, noted[id].missing} end
    end
    if noted[id] and not noted[id][number] then table.insert(noted[id].missing, number) end
  end
  return found, #entries
end

-- Write the numbers of the entries that concern an article into its hash.
local function note_entries(article, numbers)
  if #numbers == 0 then redis.call('HDEL', article, 'log')
  else redis.call('HSET', article, 'log', table.concat(numbers, ',')) end
end

-- Return whether the entry with this number concerns the article.
local function is_about(prefix, number, id)
  if not string.find(number, '^%d+$') or #number > 15 then return false end
  local text = redis.call('LINDEX', prefix .. 'log:', -tonumber(number))
  return text and id_of_entry(text) == id
end

-- What the audit reports about an entry that does not concern the article.
local function misplaced_entry(number)
  return 'entry ' .. number .. ' of the log is not about it'
end
