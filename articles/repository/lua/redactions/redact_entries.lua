--[[
Replace texts in the log entries that concern no article and were logged at a moment, and log that. Idempotent: what is
replaced is not found again.
KEYS  1 log  2 history of the ranking parameters
ARGV  1 the moment, s  2 moderator  3 now, s  4 reason  5 shard prefix  6 what replaces a text  7… the texts
Returns  {"ok", number of places where a text was replaced}
Cost  O(log entries), or O(versions of the parameters)
TOUCHES  log: rw, tunings: rw
]]
local by, subject = redactor(ARGV[6], {unpack(ARGV, 7)}), nil

for _, number in ipairs(numbers_at(KEYS[1], tonumber(ARGV[1]))) do
  local entry, is_changed = redact_entry(by, KEYS[1], -number)
  if is_changed then subject = entry end
  if is_changed and entry.action == 'tune-ranking' then
    for n = 1, redis.call('LLEN', KEYS[2]) do redact_entry(by, KEYS[2], n - 1) end
  end
end
if subject then
  local about = {about = subject.details.about or subject.action, parts = redacted_parts(by)}
  log(ARGV[5], 'redact', ARGV[3], ARGV[2], '0', subject.title, ARGV[4], about)
end
return {'ok', by.places}
