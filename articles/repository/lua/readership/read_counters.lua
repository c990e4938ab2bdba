--[[
Read all view counters of an article, to archive them. Reads only.
KEYS  1 times of the last views
ARGV  1 id  2 shard prefix
Returns  {page views, visitors, sketch of the visitors in hex or '', time of the last view, reason, number, …}
         | {} if no view is counted
Cost  O(size of the sketch)
TOUCHES  counter:views:<id> r, hll:uv:<id> r, counter:suspect:<id> r, viewed: r
]]
local views, visitors, suspects = counters_of(ARGV[2], ARGV[1])
local pv, last = redis.call('GET', views), redis.call('ZSCORE', KEYS[1], ARGV[1])
if not (pv and last) then return {} end

local function hex(byte) return string.format('%02x', string.byte(byte)) end

local sketch = string.gsub(redis.call('GET', visitors) or '', '.', hex)
local reply = {tonumber(pv), redis.call('PFCOUNT', visitors), sketch, last}
for _, part in ipairs(redis.call('HGETALL', suspects)) do reply[#reply + 1] = part end
return reply
