--[[
Read the newest log entries about some acts on articles or comments. Reads only.
KEYS  1 log
ARGV  1 shard prefix  2… act and subject, joined by a colon; the subject is a comment, or the root of an article
Returns  the entries, as JSON; false for one that is not found
Cost  O(acts), and the last entries of the moderation log about each article
TOUCHES  article:<id> r, log: r
]]
local found = {}
for n = 2, #ARGV do
  local action, subject = string.match(ARGV[n], '^([a-z-]+):(%d+)$')
  found[#found + 1] = latest_entry(ARGV[1], article_of(subject), action, subject)
end
return found
