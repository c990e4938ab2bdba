--[[
Record a view of an article. A visitor counts once within a period; suspect views count apart. Note the visit of a member.
KEYS  1 article
ARGV  1 id  2 visitor  3 network, or ''  4 suspicion, or ''  5 now, s  6 how long until a visitor counts again, s
      7 most views of a network and article  8 most views of a network  9 period of both, s
      10 size of the hot list  11 days kept  12 shard prefix  13 pause that ends a visit, s  14 life of a visit, s
      15 1 if the article's link was opened, or '': its page  16 the member who opened it, or ''
Returns  {"ok" | "repeat" | "bot" | "prefetch" | "burst", page views, visitors, hotness,
         when the member's visit before ended, s, or ''}
         | {"missing"} | {"removed"} | {"merged_away"} | {"archived"}
Cost  O(log N)
TOUCHES  article:<id> r, visits:<user> rw, hot:score rw, hot:score:<slug> rw, counter:views:<id> rw, hll:uv:<id> rw,
         counter:suspect:<id> rw, days:<id> rw, days: rw, hll:day:<day> rw, seen:<id>:<visitor> rw,
         burst:<id>:<network> rw, burst:<network> rw, viewed: rw, ranking: r
]]
local article, id, visitor, network, suspicion, prefix, member = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[12], ARGV[16]
local suspects, seen, visitors = prefix .. 'counter:suspect:' .. id, prefix .. 'seen:' .. id .. ':' .. visitor, prefix .. 'hll:uv:' .. id
local now, again, window, keep = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[9]), tonumber(ARGV[10])
local day, days_kept = math.floor(now / 86400), tonumber(ARGV[11])

local time, groups, removed, merged, archived, comments = unpack(redis.call('HMGET', article,
  'time', 'groups', 'removed', 'merged', 'archived', 'comments'))
if not as_time(time) then return {'missing'} end
if removed then return removal(merged) end
if archived and suspicion == '' then return {'archived'} end
local current = parameters(prefix)
time = tonumber(time)
-- What cannot be counted in full fails here, before the first write.
for _, key in ipairs({suspects, prefix .. 'days:' .. id, prefix .. 'days:'}) do redis.call('HLEN', key) end
for _, key in ipairs({prefix .. 'viewed:', prefix .. WHOLE.hot}) do redis.call('ZCARD', key) end
local known = unique_visitors(prefix, id)
local seen_comments = ARGV[15] ~= '1' and (as_count(comments) or 0)
local visited = member ~= '' and note_visit(prefix .. 'visits:' .. member, id, now, tonumber(ARGV[13]), tonumber(ARGV[14]), seen_comments) or ''

-- Count views of a kind on this day, for the article and for the shard; drop expired days.
local function note(kind, by)
  for _, key in ipairs({prefix .. 'days:' .. id, prefix .. 'days:'}) do
    if redis.call('HINCRBY', key, day .. ':' .. kind, by) == by then
      for _, field in ipairs(redis.call('HKEYS', key)) do
        if tonumber(string.match(field, '^%d+')) <= day - days_kept then redis.call('HDEL', key, field) end
      end
    end
    redis.call('EXPIRE', key, (days_kept + 1) * 86400)
  end
end

local function answer(status, pv, uv)
  return {status, pv, uv, exactly(hotness(pv, uv, time, current)), visited}
end

local function counts()
  if archived then
    local pv, uv = string.match(archived, '(%d+) (%d+)')
    return tonumber(pv), tonumber(uv)
  end
  return page_views(prefix, id) or 0, known
end

local function suspect(reason)
  redis.call('HINCRBY', suspects, reason, 1)
  note(reason, 1)
  return answer(reason, counts())
end

-- Return whether the network has exceeded its views; count this one if not.
local function bursts()
  if network == '' then return false end
  local counters = {prefix .. 'burst:' .. id .. ':' .. network, prefix .. 'burst:' .. network}
  for n, key in ipairs(counters) do
    if tonumber(redis.call('GET', key) or 0) >= tonumber(ARGV[6 + n]) then return true end
  end
  for _, key in ipairs(counters) do
    if redis.call('INCR', key) == 1 then redis.call('EXPIRE', key, window) end
  end
  return false
end

if suspicion ~= '' then return suspect(suspicion) end
local last = tonumber(redis.call('GET', seen) or '')
if last and now - last < again then return answer('repeat', counts()) end
if bursts() then return suspect('burst') end

local pv = redis.call('INCR', prefix .. 'counter:views:' .. id)
redis.call('SET', seen, ARGV[5], 'EX', again)
local uv = redis.call('PFADD', visitors, visitor) == 1 and unique_visitors(prefix, id) or known
local of_day = prefix .. 'hll:day:' .. day
redis.call('PFADD', of_day, visitor)
redis.call('EXPIRE', of_day, (days_kept + 1) * 86400)
redis.call('ZADD', prefix .. 'viewed:', ARGV[5], id)
note('counted', 1)
if uv ~= known then note('visitors', uv - known) end
local value = hotness(pv, uv, time, current)
rank_hot(prefix, id, value, split(groups), keep)
return answer('ok', pv, uv)
