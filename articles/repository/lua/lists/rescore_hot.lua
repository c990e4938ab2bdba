--[[
Rescore a shard's hot list for one moment, then trim it. Idempotent.
KEYS  1 hot list
ARGV  1 shard prefix  2 moment, s  3 entries to keep
Returns  number of entries left
Cost  O(list · log list)
TOUCHES  article:<id> r, hot:score rw, hot:score:<slug> rw, counter:views:<id> r, hll:uv:<id> r, ranking: rw
]]
return rescore_hot_list(ARGV[1], ARGV[2], tonumber(ARGV[3]))
