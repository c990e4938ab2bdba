--[[
Read what ranks an article, and the values it is ranked by. Reads only.
KEYS  1 article
ARGV  1 id  2 shard prefix
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

local id, prefix = ARGV[1], ARGV[2]
local pv, uv = redis.call('GET', prefix .. 'counter:views:' .. id) or 0, unique_visitors(prefix, id)
if archived then pv, uv = string.match(archived, '(%d+) (%d+)') end
local waiting = left_out and #redis.call('SINTER', prefix .. 'leftout:' .. id, prefix .. 'probation:') or 0
local answer = {
  'ok', time, votes, opposes, left_out or '', waiting, groups, pv, uv,
  redis.call('ZSCORE', prefix .. WHOLE.score, id) or '', redis.call('ZSCORE', prefix .. WHOLE.hot, id) or '',
}
local names = {'version', 'refreshed_at', 'votes_per_day', unpack(HOT_PARAMETERS)}
for n, value in ipairs(redis.call('HMGET', prefix .. 'ranking:', unpack(names))) do
  answer[#answer + 1] = value or error('UNPREPARED there is no ' .. names[n] .. ' in ' .. prefix .. 'ranking:')
end
return answer
