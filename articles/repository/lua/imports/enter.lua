--[[
Enter an article with its history. Idempotent: an existing id is left unchanged.
KEYS  1 article  2 voted  3 oppose
ARGV  1 id  2 title  3 link  4 poster  5 poster's name  6 time, s  7 votes  8 opposes  9 groups, comma-separated
      10 reason of its removal, or ''  11 when voting ends, s  12 now, s
      13 first placeholder user id  14 shard prefix  15 words
Returns  {"ok"} | {"exists"} | {"gone"} if the poster's account is deleted
Cost  O(votes) while voting is open, else O(log N)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, votes:<user> rw, opposes:<user> rw, posted:<user> rw,
         gone: r, score: rw, time: rw, points: rw, top:<period> rw, removed: rw, group:<slug> rw,
         score:<slug> rw, time:<slug> rw, points:<slug> rw, hot:score rw, hot:score:<slug> rw,
         counter:views:<id> r, hll:uv:<id> r, next:score rw, word:<word> rw, words: rw, ranking: rw
INCLUDE  closing, lists, members, ranking, values, words
]]
local article, voted, oppose = KEYS[1], KEYS[2], KEYS[3]
local id, poster, time, closes, prefix = ARGV[1], ARGV[4], ARGV[6], ARGV[11], ARGV[14]
local votes, opposes, now = tonumber(ARGV[7]), tonumber(ARGV[8]), moments(prefix, ARGV[12])

if redis.call('EXISTS', article) == 1 then return {'exists'} end
if is_gone(prefix, poster) then return {'gone'} end
local current = parameters(prefix)

local placeholder = tonumber(ARGV[13])
local function enter_voters(key, count)
  while count > 0 do
    local voters = {}
    for at = 1, math.min(count, VALUES_AT_ONCE) do voters[at] = exactly(placeholder + at - 1) end
    redis.call('SADD', key, unpack(voters))
    placeholder, count = placeholder + #voters, count - #voters
  end
end

redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'poster', poster, 'poster_name', ARGV[5],
  'time', time, 'closes', closes, 'votes', votes, 'opposes', opposes, 'groups', ARGV[9], 'words', ARGV[15])
if is_open(now, closes) then
  note_window(prefix, time, closes, current)
  local named = tonumber(poster) > 0 and votes > 0
  if named then
    redis.call('SADD', voted, poster)
    note_choice(prefix, id, poster, 'vote', time, -math.huge)
  end
  enter_voters(voted, named and votes - 1 or votes)
  enter_voters(oppose, opposes)
end
note_posted(prefix, id, poster, time)
if ARGV[10] == '' then
  list_article(prefix, id, tonumber(time), votes - opposes, split(ARGV[9]), current)
  enter_words(prefix, id, ARGV[15])
else
  redis.call('HSET', article, 'removed', ARGV[10])
  redis.call('ZADD', prefix .. 'removed:', time, id)
end
return {'ok'}
