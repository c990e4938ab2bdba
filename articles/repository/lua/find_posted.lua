--[[
Find a member's articles among some of a shard's, listed and removed alike, in the order of their posting times,
which never change: so none is passed over, whatever happens to them meanwhile. Reads only.
KEYS  1 time ranking  2 removed
ARGV  1 shard prefix  2 user id  3 posting time to go on from, or '-inf'  4 articles in this step
Returns  {posting time to go on from, '' when all were looked at, id, title, link, id, title, link …}
Cost  O(log N + step)
]]
local prefix, user, from, step = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

-- What follows in both, and up to which time both are known; of equal times some are found twice.
local function following()
  while true do
    local found, upto = {}, nil
    for at = 1, 2 do
      found[at] = redis.call('ZRANGEBYSCORE', KEYS[at], from, '+inf', 'WITHSCORES', 'LIMIT', 0, step)
      local last = #found[at] == 2 * step and found[at][2 * step]
      if last and (not upto or tonumber(last) < tonumber(upto)) then upto = last end
    end
    if upto ~= from then return found, upto end
    step = 2 * step
  end
end

local found, upto = following()
local reply = {upto or ''}
for at = 1, 2 do
  for n = 1, #found[at], 2 do
    local id = found[at][n]
    local poster, title, link = unpack(redis.call('HMGET', prefix .. 'article:' .. id, 'poster', 'title', 'link'))
    if poster == user then
      for _, value in ipairs({id, title, link}) do reply[#reply + 1] = value end
    end
  end
end
return reply
