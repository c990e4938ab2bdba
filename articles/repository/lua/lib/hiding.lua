--[[
What a reader hides: the part of the rule in articles/text/searching/hiding.py that scripts can decide on their own. They hide
nothing that it shows. Of titles and links it hides more, such as words with accents.
]]
-- Return a set of what is between commas, and how many there are.
local function set_of(list)
  local set, size = {}, 0
  for one in string.gmatch(list, '[^,]+') do set[one], size = true, size + 1 end
  return set, size
end

-- Return whether a link leads to a hidden host, to one of its subdomains, or to a hidden author's part.
local function is_from_hidden(hosts, link)
  local host, path = string.match(link, '^https?://([^/:?#]+)[^/]*/?(.*)')
  local part = host and string.match(path, '^@?[%w_.~-]+')
  if part and #part < 40 and hosts[host .. '/' .. string.lower(part)] then return true end
  while host and string.find(host, '.', 1, true) do
    if hosts[host] then return true end
    host = string.match(host, '^[^.]*%.(.*)')
  end
  return false
end

-- Return whether a title has a hidden word, or a hidden part: a part that begins with a space is several words.
local function has_hidden_word(words, parts, title)
  local plain = ' ' .. string.gsub(string.lower(title), '[^%w\39+#\128-\255]+', ' ') .. ' '
  for word in string.gmatch(plain, '[^ ]+') do
    if words[word] then return true end
  end
  for _, one in ipairs(parts) do
    if string.find(string.sub(one, 1, 1) == ' ' and plain or title, one, 1, true) then return true end
  end
  return false
end

-- Return a function of an id that returns whether the article is hidden, its title and its link. `ids` is a set; all others are
-- comma-separated. Without any of these, no article is read.
local function hiding_of(prefix, ids, groups, posters, hosts, words, parts, shows_texts)
  local reads = shows_texts or groups ~= '' or posters ~= ''
  local looks_at_texts = hosts ~= '' or words ~= '' or parts ~= ''
  groups, posters, hosts, words, parts = set_of(groups), set_of(posters), set_of(hosts), set_of(words), split(parts)
  return function(id)
    if ids[id] then return true end
    if not reads then return false end
    local read = redis.call('HMGET', prefix .. 'article:' .. id, 'groups', 'poster', 'poster_name', 'title', 'link')
    local slugs, poster, name, title, link = read[1] or '', read[2] or '', read[3] or '', read[4] or '', read[5] or ''
    if posters[poster] and name ~= '' then return true end
    for slug in string.gmatch(slugs, '[^,]+') do
      if groups[slug] then return true end
    end
    return looks_at_texts and (is_from_hidden(hosts, link) or has_hidden_word(words, parts, title)), title, link
  end
end
