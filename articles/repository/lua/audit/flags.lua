--[[
Check the flags of some comments and articles of one shard, and some entries of members' lists of flags. Reads only.
KEYS  1 queue
ARGV  1 shard prefix  2… of each: id of a comment or root of an article, and the member whose list has it; '' for all its flags
Returns  {number of the check, problem, number, problem …}
Cost  O(flags · log N)
TOUCHES  article:<id> r, comment:<comment> r, flags:<comment> r, flagged: r, flags:by:<user> r, gone: r
INCLUDE  flags, members
]]
local prefix, findings = ARGV[1], {}

local function check_flag(say, id, user, text, is_shown)
  local _, _, _, state = flag_parts(text)
  if not state then return say('a damaged flag of ' .. user) end
  if state == 'open' and not is_shown then say('an open flag on what is removed, of ' .. user) end
  if is_gone(prefix, user) then say('a flag of a member whose account is deleted: ' .. user)
  elseif tonumber(redis.call('ZSCORE', prefix .. 'flags:by:' .. user, id) or 'nan') ~= flag_score(text) then
    say('not in flags:by:' .. user .. ', or not by its state')
  end
end

for at = 2, #ARGV, 2 do
  local id, user = ARGV[at], ARGV[at + 1]
  local function say(text) findings[#findings + 1], findings[#findings + 2] = at / 2 - 1, text end
  if user == '' then
    local flags, is_there, is_shown = flags_of(prefix, id), has_subject(prefix, id)
    if #flags > 0 and not is_there then say('flags of what is not there') end
    for _, flag in ipairs(flags) do check_flag(say, id, flag[1], flag[2], is_shown) end
    local _, place = queue_place(flags)
    if tonumber(redis.call('ZSCORE', KEYS[1], id) or '') ~= place then say('not in the queue by its flags') end
  else
    local expected = flag_score(redis.call('HGET', prefix .. 'flags:' .. id, user))
    local listed = redis.call('ZSCORE', prefix .. 'flags:by:' .. user, id)
    if listed and tonumber(listed) ~= expected then say('holds ' .. id .. ', but not by its flag') end
  end
end
return findings
