--[[
What members are notified of. A notice is the word for what happened, and the comment that it is about, or the root of the
article.
]]
-- Return the root of an article: the parent of its top-level comments, and the subject of notices about the article.
local function root_of(article)
  return article .. string.sub(COMMENTS_PER_ARTICLE, 2)
end

-- Return a notice as inboxes keep it.
local function notice_of(word, subject)
  return word .. ':' .. subject
end

-- Put a notice into a member's inbox, or move it to the top.
local function notify(prefix, user, word, subject, at)
  if (as_count(user) or 0) < 1 or is_gone(prefix, user) then return end
  redis.call('ZADD', prefix .. 'inbox:' .. user, at, notice_of(word, subject))
  redis.call('ZREMRANGEBYRANK', prefix .. 'inbox:' .. user, 0, -NOTICES_KEPT - 1)
end

-- Take a young notice of a mention back from members, `id:when the inbox was read`, comma-separated.
local function take_mentions_back(prefix, users, subject, at)
  for user, read in string.gmatch(users, '(%d+):([%d.]+)') do
    local inbox, notice = prefix .. 'inbox:' .. user, notice_of('mention', subject)
    local noted = tonumber(redis.call('ZSCORE', inbox, notice) or '')
    if noted and noted > tonumber(read) and at - noted <= UNDO_SECONDS then redis.call('ZREM', inbox, notice) end
  end
end

-- Notify members, comma-separated, whom a text mentions, except its author and those who know of it already; take notices
-- back from those `unmentioned`. `holder` is the key of the article or comment, which counts whom its text has notified:
-- MOST_MENTIONED, with all edits together.
local function note_mentions(prefix, holder, mentioned, unmentioned, author, subject, at)
  take_mentions_back(prefix, unmentioned, subject, tonumber(at))
  local before = as_count(redis.call('HGET', holder, 'mentions') or '0') or MOST_MENTIONED
  local count = before
  for _, user in ipairs(split(mentioned)) do
    local known = redis.call('ZMSCORE', prefix .. 'inbox:' .. user,
      notice_of('reply', subject), notice_of('mention', subject))
    if count < MOST_MENTIONED and user ~= author and not (known[1] or known[2]) then
      notify(prefix, user, 'mention', subject, at)
      count = count + 1
    end
  end
  if count > before then redis.call('HSET', holder, 'mentions', count) end
end

-- Return whether a notice is about an article that exists, or about one of its comments.
local function is_notice(prefix, notice)
  local article = string.match(notice, '^[a-z-]+:(%d+)%d%d%d%d%d%d$')
  return article and redis.call('EXISTS', prefix .. 'article:' .. article) == 1 or false
end
