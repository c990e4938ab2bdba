--[[
Check the flags of some comments and articles of one shard, and some entries of members' lists of flags. Repairing, put flags
into the queue and the lists that they require, and take entries without a flag off a list; flags of what is not there, and
of deleted members, are dropped; those on what is removed are decided. Idempotent.
KEYS  1 queue
ARGV  1 shard prefix  2… of each: id of a comment or root of an article, and the member whose list has it; '' for all its flags
Returns  {number of the check, problem, number, problem …}
Cost  O(flags · log N)
TOUCHES  article:<id> r, comment:<comment> r, flags:<comment> rw, flagged: rw, flags:by:<user> rw, gone: r
]]
local prefix, findings = ARGV[1], {}

local function check_flag(say, id, user, text, is_shown)
  local list, _, _, _, state = prefix .. 'flags:by:' .. user, flag_parts(text)
  local gone = is_gone(prefix, user)
  if not state then say('a damaged flag of ' .. user)
  else
    if state == 'open' and not is_shown then say('an open flag on what is removed, of ' .. user) end
    if gone then say('a flag of a member whose account is deleted: ' .. user)
    elseif user ~= RULES and tonumber(redis.call('ZSCORE', list, id) or 'nan') ~= flag_score(text) then
      say('not in flags:by:' .. user .. ', or not by its state')
      if REPAIRS then list_flag(prefix, user, id, text) end
    end
  end
  if REPAIRS and (gone or not state) then
    redis.call('HDEL', prefix .. 'flags:' .. id, user)
    redis.call('ZREM', list, id)
  end
end

local function check_all(say, id)
  local flags, is_there, is_shown = flags_of(prefix, id), has_subject(prefix, id)
  if #flags > 0 and not is_there then say('flags of what is not there') end
  if REPAIRS and not is_there then return drop_flags(prefix, id) end
  for _, flag in ipairs(flags) do check_flag(say, id, flag[1], flag[2], is_shown) end
  if REPAIRS and not is_shown then decide_flags(prefix, id, 'removed', math.huge) end
  if REPAIRS then flags = flags_of(prefix, id) end
  local _, place = queue_place(flags)
  if is_merged(prefix, id) then place = nil end
  if tonumber(redis.call('ZSCORE', KEYS[1], id) or '') == place then return end
  say('not in the queue by its flags')
  if REPAIRS then queue_flagged(prefix, id, flags) end
end

for at = 2, #ARGV, 2 do
  local id, user = ARGV[at], ARGV[at + 1]
  local function say(text) findings[#findings + 1], findings[#findings + 2] = at / 2 - 1, text end
  if user == '' then check_all(say, id)
  else
    local text, list = redis.call('HGET', prefix .. 'flags:' .. id, user), prefix .. 'flags:by:' .. user
    local listed = redis.call('ZSCORE', list, id)
    if listed and tonumber(listed) ~= flag_score(text) then say('holds ' .. id .. ', but not by its flag') end
    if REPAIRS and not text then redis.call('ZREM', list, id) end
  end
end
return findings
