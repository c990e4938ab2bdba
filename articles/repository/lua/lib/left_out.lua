--[[
Choices that are left out of ranking: the set of an article's voters whose choice is, and how many in its field `left_out`; a
comment has only the field. Choices that wait until their member's probation ends are left out meanwhile.
]]
-- Return whether a member's choices are left out of ranking.
local function is_left_out(prefix, user)
  return redis.call('SISMEMBER', prefix .. 'leftout:', user) == 1
end

-- Number of the act that begins probation. After a later act, choices do not wait.
local PROBATION_ACT = '1'

-- Return whether a member's choices, which are left out, wait until probation ends. `number`: that of the last act.
local function waits(prefix, user, number)
  return number == tonumber(PROBATION_ACT) and redis.call('SISMEMBER', prefix .. 'probation:', user) == 1
end

-- Return a member's choice on an open article: 'vote', 'oppose' or 'none'.
local function choice_of(prefix, id, user)
  if redis.call('SISMEMBER', prefix .. 'voted:' .. id, user) == 1 then return 'vote' end
  return redis.call('SISMEMBER', prefix .. 'oppose:' .. id, user) == 1 and 'oppose' or 'none'
end

-- Set a member's choice in two voter sets; return how many votes and opposes that adds. Commands that need memory come first:
-- a full store refuses a script there, but not once the script has written.
local function set_choice(voted, oppose, user, choice)
  local oppose_change = choice == 'oppose' and redis.call('SADD', oppose, user)
  local vote_change = choice == 'vote' and redis.call('SADD', voted, user) or -redis.call('SREM', voted, user)
  return vote_change, oppose_change or -redis.call('SREM', oppose, user)
end

-- Return the choice, if it is left out, or 'none'. Call it before the choice changes.
local function choice_left_out(prefix, id, user)
  return redis.call('SISMEMBER', prefix .. 'leftout:' .. id, user) == 1 and choice_of(prefix, id, user) or 'none'
end

-- Note how many votes and opposes of an article are left out; return them as its field holds them, nil if none are.
local function note_left_out(prefix, id, votes, opposes)
  local article = prefix .. 'article:' .. id
  if votes + opposes == 0 then
    redis.call('HDEL', article, 'left_out')
    return nil
  end
  local field = string.format('%d %d', votes, opposes)
  redis.call('HSET', article, 'left_out', field)
  return field
end

-- Leave a member's choice on an article out, instead of the choice left out before; either may be 'none'. Return the
-- article's field.
local function leave_out(prefix, id, user, before, after, field)
  if before == after then return field end
  local votes, opposes = counts_left_out(field)
  local is_none = after == 'none'
  redis.call(is_none and 'SREM' or 'SADD', prefix .. 'leftout:' .. id, user)
  votes = votes + (after == 'vote' and 1 or 0) - (before == 'vote' and 1 or 0)
  opposes = opposes + (after == 'oppose' and 1 or 0) - (before == 'oppose' and 1 or 0)
  return note_left_out(prefix, id, math.max(0, votes), math.max(0, opposes))
end

-- Note how many votes and opposes of an open comment are by members whose choices are left out of ranking; return them as
-- its field `left_out` holds them, nil if none are. `field`: what it holds now. Few members are left out.
local function leave_out_of_comment(prefix, id, field)
  local members, now = prefix .. 'leftout:'
  if field or redis.call('EXISTS', members) == 1 then
    local votes = #redis.call('SINTER', members, prefix .. 'comment:voted:' .. id)
    local opposes = #redis.call('SINTER', members, prefix .. 'comment:oppose:' .. id)
    now = votes + opposes > 0 and votes .. ' ' .. opposes or nil
  end
  if now and now ~= field then redis.call('HSET', prefix .. 'comment:' .. id, 'left_out', now)
  elseif field and not now then redis.call('HDEL', prefix .. 'comment:' .. id, 'left_out') end
  return now
end

-- Add the poster's own vote to a new article, left out if the poster's choices are; return the article's field.
local function add_first_vote(prefix, voted, id, poster)
  redis.call('SADD', voted, poster)
  return leave_out(prefix, id, poster, 'none', is_left_out(prefix, poster) and 'vote' or 'none')
end

-- Fill the two voter sets of what is imported: with the members of `ballots`, as imports/enter has them, but for deleted
-- accounts, and with unnamed voters, with consecutive ids, for the others. Return {user, choice, at} of each member.
local function enter_voters(prefix, voted, oppose, ballots, votes, opposes, placeholder)
  local sets, left, members = {vote = voted, oppose = oppose}, {vote = tonumber(votes), oppose = tonumber(opposes)}, {}
  for _, ballot in ipairs(split(ballots)) do
    local user, choice, at = string.match(ballot, '(%S+) (%S+) (%S+)')
    if redis.call('SISMEMBER', prefix .. 'gone:', user) == 0 then
      left[choice] = left[choice] - redis.call('SADD', sets[choice], user)
      members[#members + 1] = {user = user, choice = choice, at = at}
    end
  end
  for _, choice in ipairs({'vote', 'oppose'}) do
    local ids = {}
    for n = 1, left[choice] do ids[n] = string.format('%d', placeholder + n - 1) end
    in_batches(ids, function(...) redis.call('SADD', sets[choice], ...) end)
    placeholder = placeholder + #ids
  end
  return members
end
