--[[
Voting rings: many new accounts of one network that choose on one article. The article's `ring` holds the highest number
of them, and the times of the first and the last choice; `ring_checked` the last choice that a moderator has checked.
INCLUDE  values
]]
local RINGS_KEPT = 1000  -- in the list of one shard

-- Return when the ring began, in Unix seconds, and its number of accounts; nil where there is no ring.
local function ring_facts(ring)
  local number, first = string.match(ring or '', '^(%d+) (%S+) %S+$')
  return as_time(first), as_count(number)
end

-- Note a choice of a new account among the `accounts` of its network. Once `enough` of them have chosen within `period`
-- and since the last check, flag the article; return their number if that is new, else 0. Call it after the last refusal,
-- with the choice written: it fails on no damaged key.
local function note_new_account(prefix, accounts, id, user, at, enough, period)
  if type(redis.pcall('ZREMRANGEBYSCORE', accounts, '-inf', '(' .. exactly(at - period))) ~= 'number' then return 0 end
  redis.call('ZADD', accounts, 'NX', exactly(at), user)
  redis.call('EXPIRE', accounts, period)
  local article = prefix .. 'article:' .. id
  local ring, checked = unpack(redis.call('HMGET', article, 'ring', 'ring_checked'))
  local since = '(' .. exactly(as_time(checked) or 0)
  local number = redis.call('ZCOUNT', accounts, since, '+inf')
  if number < tonumber(enough) then return 0 end
  local earliest = tonumber(redis.call('ZRANGEBYSCORE', accounts, since, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
  local first, most = ring_facts(ring)
  local facts = {math.max(number, most or 0), math.min(earliest, first or earliest), at}
  redis.call('HSET', article, 'ring', string.format('%d %.3f %.3f', unpack(facts)))
  redis.pcall('ZADD', prefix .. 'rings:', exactly(at), id)
  redis.pcall('ZREMRANGEBYRANK', prefix .. 'rings:', 0, -RINGS_KEPT - 1)
  return first and 0 or number
end
