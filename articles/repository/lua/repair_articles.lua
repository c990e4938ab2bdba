--[[
Put some articles of one shard into exactly the lists their hashes say. Idempotent.
KEYS  1 removed
ARGV  1 shard prefix  2 now, s  3 grace, s  4… ids
Returns  {time, poster, groups, removed, …} of each id; '' for an id without article
Cost  O(ids · groups · log N)
]]
local prefix, now, grace = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local in_force, told = parameters(prefix), {}

local OF_ARTICLES = {'voted:', 'oppose:', 'counter:views:', 'hll:uv:', 'counter:suspect:', 'days:', 'history:'}

local function end_voter_sets(id, closes)
  for _, one in ipairs(CHOICES) do
    local left = redis.call('TTL', prefix .. one.set .. id)
    if left == -1 or left >= 0 and is_open(now + left, closes) then
      end_voter_set(prefix .. one.set .. id, closes, now, grace)
    end
  end
end

-- When somebody chose is lost with the list: the posting time stands for it.
local function list_choices(id, time)
  for _, one in ipairs(CHOICES) do
    for _, user in ipairs(redis.call('SMEMBERS', prefix .. one.set .. id)) do
      if is_member(user) and not is_gone(prefix, user) then
        redis.call('ZADD', prefix .. one.list .. user, 'NX', exactly(time), id)
      end
    end
  end
end

-- The time of the last view only tells when to archive: where it is lost, now is near enough.
local function note_viewed(id)
  if not page_views(prefix, id) then redis.call('ZREM', prefix .. 'viewed:', id)
  else redis.call('ZADD', prefix .. 'viewed:', 'NX', ARGV[2], id) end
end

-- What is missing is added when the log is read.
local function forget_entries(id)
  local article, right = prefix .. 'article:' .. id, {}
  for _, number in ipairs(split(redis.call('HGET', article, 'log'))) do
    if is_about(prefix, number, id) then right[#right + 1] = number end
  end
  if #right == 0 then redis.call('HDEL', article, 'log')
  else redis.call('HSET', article, 'log', table.concat(right, ',')) end
end

for at = 4, #ARGV do
  local id = ARGV[at]
  local time, closes, votes, opposes, groups, removed, poster = unpack(redis.call('HMGET',
    prefix .. 'article:' .. id, 'time', 'closes', 'votes', 'opposes', 'groups', 'removed', 'poster'))
  for _, fact in ipairs({time or '', poster or '', groups or '', removed or ''}) do told[#told + 1] = fact end
  if not time then
    unlist_article(prefix, id, {})
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', prefix .. 'viewed:', id)
    for _, kind in ipairs(OF_ARTICLES) do redis.call('DEL', prefix .. kind .. id) end
  elseif removed then
    unlist_article(prefix, id, split(groups))
    redis.call('ZADD', KEYS[1], time, id)
  else
    redis.call('ZREM', KEYS[1], id)
    list_article(prefix, id, tonumber(time), votes - opposes, split(groups), in_force)
  end
  if not in_force.next_per_point then redis.call('ZREM', prefix .. 'next:score', id) end
  if time then
    note_viewed(id)
    note_posted(prefix, id, poster, time)
    forget_entries(id)
    time = tonumber(time)
    closes = tonumber(closes or '') or fix_closing_time(prefix, id, time, votes, opposes, now, grace)
    if is_open(now, closes) then
      list_choices(id, time)
      note_window(prefix, time, closes, in_force)
    end
    end_voter_sets(id, closes)
  end
end
return told
