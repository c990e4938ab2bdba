--[[
Enter an article with its history. Idempotent: an id that is taken is left as it is.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 title  3 link  4 poster  5 poster's name  6 time, s  7 votes  8 opposes  9 groups, comma-separated
      10 removal reason, or ''  11 life of the voter sets, s; 0 when voting is closed
      12 first placeholder user id  13 shard prefix  14 words
Returns  {"ok"} | {"exists"}
Cost  O(votes) while voting is open, else O(log N)
]]
local article, voted, oppose = KEYS[1], KEYS[2], KEYS[3]
local id, poster, time, prefix = ARGV[1], ARGV[4], ARGV[6], ARGV[13]
local votes, opposes, life = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[11])

if redis.call('EXISTS', article) == 1 then return {'exists'} end
local in_force = parameters(prefix)

local placeholder, at_once = tonumber(ARGV[12]), 1000
local function enter_voters(key, count)
  while count > 0 do
    local voters = {}
    for at = 1, math.min(count, at_once) do voters[at] = exactly(placeholder + at - 1) end
    redis.call('SADD', key, unpack(voters))
    placeholder, count = placeholder + #voters, count - #voters
  end
  if redis.call('EXISTS', key) == 1 then redis.call('EXPIRE', key, life) end
end

redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'poster', poster, 'poster_name', ARGV[5],
  'time', time, 'votes', votes, 'opposes', opposes, 'groups', ARGV[9], 'words', ARGV[14])
if life > 0 then
  local named = tonumber(poster) > 0 and votes > 0
  if named then
    redis.call('SADD', voted, poster)
    if not is_gone(prefix, poster) then note_choice(prefix, id, poster, 'vote', time, -math.huge) end
  end
  enter_voters(voted, named and votes - 1 or votes)
  enter_voters(oppose, opposes)
end
if ARGV[10] == '' then
  list_article(prefix, id, tonumber(time), votes - opposes, split(ARGV[9]), in_force)
  enter_words(prefix, id, ARGV[14])
else
  redis.call('HSET', article, 'removed', ARGV[10])
  redis.call('ZADD', prefix .. 'removed:', time, id)
end
return {'ok'}
