--[[
Values as the store keeps them, which are text: numbers, moments, lists. Touches no key.
]]
local VALUES_AT_ONCE = 1000  -- in one command: Lua cannot unpack several thousand, and a batch takes about a millisecond

-- Call a command with many values, in batches.
local function in_batches(values, command)
  for first = 1, #values, VALUES_AT_ONCE do
    command(unpack(values, first, math.min(first + VALUES_AT_ONCE - 1, #values)))
  end
end

-- Return a number as text that reads back as the same double; Lua's tostring keeps only 14 digits.
local function exactly(number)
  return string.format('%.17g', number)
end

-- Return the parts of a comma-separated list.
local function split(list)
  local parts = {}
  for part in string.gmatch(list or '', '[^,]+') do parts[#parts + 1] = part end
  return parts
end

-- Return a list, and a function that adds values to it, each once.
local function distinct()
  local list, known = {}, {}
  return list, function(values)
    for _, value in ipairs(values) do
      if not known[value] then list[#list + 1], known[value] = value, true end
    end
  end
end

-- Return whether a comma-separated list contains this text; nothing contains false.
local function contains(list, text)
  return text and string.find(',' .. list .. ',', ',' .. text .. ',', 1, true) ~= nil
end

-- Return a number of an article's hash; nil where it is missing or not a number.
local function as_number(text)
  return text and #text < 20 and string.find(text, '^%-?%d+%.?%d*$') and tonumber(text) or nil
end

-- The same for Unix seconds.
local function as_time(text)
  local at = as_number(text)
  return at and at >= 0 and at < LATEST and at or nil
end

-- The same for a number of votes or views.
local function as_count(text)
  return text and #text < 16 and string.find(text, '^%d+$') and tonumber(text) or nil
end

-- Return why a removed article takes no change.
local function removal(merged)
  return {merged and 'merged_away' or 'removed'}
end

-- Return whole milliseconds: windows are compared in them, so that the end of a window is exact.
local function milliseconds(seconds)
  return math.floor(seconds * 1000 + 0.5)
end

-- Return whether an article has every required field, and numbers where numbers belong.
local function is_whole(title, link, poster, name, time, votes, opposes, groups, archived)
  local has_poster = poster and #poster < 17 and string.find(poster, '^%-?%d+$')
  local pv, uv = '0', '0'
  if archived then pv, uv = string.match(archived, '^(%d+) (%d+)$') end
  return title and link and has_poster and name and as_time(time) and as_count(votes) and as_count(opposes) and groups
    and as_count(pv) and as_count(uv) and true or false
end
