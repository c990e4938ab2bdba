--[[
Note which articles have a ballot record, and how far they have been recorded: neither where votes were moved meanwhile.
Idempotent.
KEYS  1 parameters
ARGV  1 shard prefix  2 posting time from which they were looked for, s or '-inf'  3 posting time that was reached, s
      4… of each record: id, version, votes, opposes
Returns  {number of articles that differ from their record}
Cost  O(articles)
TOUCHES  article:<id> rw, ranking: rw
INCLUDE  none
]]
local prefix, differing = ARGV[1], 0
for at = 4, #ARGV, 4 do
  local article = prefix .. 'article:' .. ARGV[at]
  local votes, opposes = unpack(redis.call('HMGET', article, 'votes', 'opposes'))
  if votes == ARGV[at + 2] and opposes == ARGV[at + 3] then redis.call('HSET', article, 'ballots', ARGV[at + 1])
  elseif votes then differing = differing + 1 end
end
local recorded, dropped = unpack(redis.call('HMGET', KEYS[1], 'ballots_recorded', 'voters_dropped'))
if differing == 0 and ARGV[3] ~= ARGV[2] and (recorded or dropped or '-inf') == ARGV[2] then
  redis.call('HSET', KEYS[1], 'ballots_recorded', ARGV[3])
end
return {differing}
