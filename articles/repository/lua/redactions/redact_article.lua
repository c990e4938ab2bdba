--[[
Replace texts in the log entries about an article, and in the article and its comments as far as they are removed; and log
that. The title and the link that readers see stay. Idempotent: what is replaced is not found again.
KEYS  1 article  2 log
ARGV  1 article id  2 moderator  3 now, s  4 reason  5 shard prefix  6 what replaces a text  7… the texts
Returns  {"ok", number of places where a text was replaced} | {"missing"}
Cost  O(entries about it)
TOUCHES  article:<id> rw, comment:<comment> rw, inbox:<user> rw, gone: r, log: rw
]]
local article, by, prefix = KEYS[1], redactor(ARGV[6], {unpack(ARGV, 7)}), ARGV[5]

local title, link, text, removed, numbers = unpack(redis.call('HMGET', article, 'title', 'link', 'text', 'removed', 'log'))
if not (title and link) then return {'missing'} end
if not removed then by.hidden[title], by.hidden[link] = nil, nil end

for _, number in ipairs(split(numbers)) do
  local entry = redact_entry(by, KEYS[2], -tonumber(number))
  local comment = entry and type(entry.details) == 'table' and entry.details.comment
  if comment then redact_comment(by, prefix .. 'comment:' .. comment) end
end
redact_field(by, article, 'locked', 'reason')
redact_field(by, article, 'removed', 'reason')
if removed and hides(by, title) or removed and hides(by, link) then
  local kept = hides(by, link) and '' or link
  redacted(by, link, 'link')
  title = redacted(by, title, 'title')
  redis.call('HSET', article, 'title', title, 'link', kept)
end
if removed and hides(by, text) then set_text(article, redacted(by, text, 'text'), '') end
if by.places > 0 then
  for _, field in ipairs(FIELDS_OF_EXTRAS) do redis.call('HDEL', article, field) end  -- they may repeat it
  log_article(prefix, 'redact', ARGV[3], ARGV[2], ARGV[1], title, ARGV[4], {parts = redacted_parts(by)})
end
return {'ok', by.places}
