--[[
Read what ranks an article, and the values it is ranked by. Reads only.
KEYS  1 article  2 page views  3 visitors  4 score ranking  5 hot list  6 ranking parameters
      7 voters left out of ranking  8 members on probation
ARGV  1 id
Returns  {"ok", posted at, votes, opposes, those left out of ranking or '', how many of these wait, groups, page views, visitors,
         score or '', hotness or '', version, refreshed at, votes per day, HOT_PARAMETERS} | {"missing"} | {"removed"} | {"merged_away"}
Cost  O(log N), and O(voters left out) if there are any
TOUCHES  article:<id> r, leftout:<id> r, probation: r, score: r, hot:score r, counter:views:<id> r, hll:uv:<id> r,
         ranking: r
]]
local fields = redis.call('HMGET', KEYS[1], 'time', 'votes', 'opposes', 'left_out', 'groups', 'archived', 'removed', 'merged')
local time, votes, opposes, left_out, groups, archived, removed, merged = unpack(fields)
if not (as_time(time) and as_count(votes) and as_count(opposes) and groups) then return {'missing'} end
if removed then return removal(merged) end

local pv, uv = redis.call('GET', KEYS[2]) or 0, redis.call('PFCOUNT', KEYS[3])
if archived then pv, uv = string.match(archived, '(%d+) (%d+)') end
local answer = {
  'ok', time, votes, opposes, left_out or '', left_out and #redis.call('SINTER', KEYS[7], KEYS[8]) or 0, groups, pv, uv,
  redis.call('ZSCORE', KEYS[4], ARGV[1]) or '', redis.call('ZSCORE', KEYS[5], ARGV[1]) or '',
}
local names = {'version', 'refreshed_at', 'votes_per_day', unpack(HOT_PARAMETERS)}
for n, value in ipairs(redis.call('HMGET', KEYS[6], unpack(names))) do
  answer[#answer + 1] = value or error('UNPREPARED there is no ' .. names[n] .. ' in ' .. KEYS[6])
end
return answer
