--[[
Page views and visitors of articles. A damaged counter or sketch counts none, so that it neither stops a script that has
begun to write nor spoils a list because of one article.
INCLUDE  values
]]
local function as_page_views(count)
  return type(count) == 'string' and tonumber(string.match(count, '^%d+$') or '') or nil
end

-- Return an article's page views; nil where there are none.
local function page_views(prefix, id)
  return as_page_views(redis.pcall('GET', prefix .. 'counter:views:' .. id))
end

-- Return the page views of many articles in the order of their ids; false where there are none.
local function all_page_views(prefix, ids)
  local names, found = {}, {}
  for n, id in ipairs(ids) do names[n] = prefix .. 'counter:views:' .. id end
  in_batches(names, function(...)
    for _, count in ipairs(redis.call('MGET', ...)) do found[#found + 1] = as_page_views(count) or false end
  end)
  return found
end

-- Return the number of visitors; nil where the sketch is damaged.
local function sketched_visitors(prefix, id)
  local count = redis.pcall('PFCOUNT', prefix .. 'hll:uv:' .. id)
  return type(count) == 'number' and count or nil
end

local function unique_visitors(prefix, id)
  return sketched_visitors(prefix, id) or 0
end
