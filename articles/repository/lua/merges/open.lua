--[[
Begin to merge an article into another one, or to move the votes of one that was merged before, or that no longer is.
Idempotent.
KEYS  1 article that stays
ARGV  1 its id  2 id of the other one  3 shard prefix  4 now, s  5 most articles that are merged into one
Returns  {"ok"} | {"missing"} | {"removed"} | {"merged_away"} | {"merges_full"}; only the first if it was merged before
Cost  O(log N)
TOUCHES  article:<id> rw, merging: rw, changes: rw
]]
local article, id, other, prefix = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local time, votes, opposes, removed, merged, field, number =
  unpack(redis.call('HMGET', article, 'time', 'votes', 'opposes', 'removed', 'merged', 'merges', 'merge_number'))
if not (as_time(time) and as_count(votes) and as_count(opposes)) then return {'missing'} end
local merges = merges_in(field)
local merge = merge_of(merges, other)
if merge then merge.state = 'open'
else
  if merged then return {'merged_away'} end
  if removed then return {'removed'} end
  if #merges >= tonumber(ARGV[5]) then return {'merges_full'} end
  number = (as_count(number) or 0) + 1
  redis.call('HSET', article, 'merge_number', number)
  merges[#merges + 1] = {id = other, number = number, state = 'open', counts = ''}
end
write_merges(prefix, id, merges, ARGV[4])
note_changed(prefix, id)
return {'ok'}
