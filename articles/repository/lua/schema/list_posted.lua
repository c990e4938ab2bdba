--[[
Continue the lists of what members posted, in a shard that had none: listed and removed articles alike, in the order of
their posting times. These never change, so an article that is removed or restored in between is not missed. Idempotent.
KEYS  1 time ranking  2 removed
ARGV  1 shard prefix  2 posting time to continue from, s, or -inf  3 articles in this step
Returns  {posting time to continue from, or '' once all are listed}
Cost  O(step · log N)
TOUCHES  article:<id> r, posted:<user> rw, time: r, removed: r
INCLUDE  members
]]
local prefix, from, step = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- Return the next entries of both rankings, and the time up to which both are known. Entries with equal times may be
-- returned twice.
local function following_in_both()
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

local found, upto = following_in_both()
for at = 1, 2 do
  for n = 1, #found[at], 2 do
    local id = found[at][n]
    note_posted(prefix, id, redis.call('HGET', prefix .. 'article:' .. id, 'poster'), found[at][n + 1])
  end
end
return {upto or ''}
