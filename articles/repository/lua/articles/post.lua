--[[
Publish an article with its poster's own vote. Idempotent: an existing id is left unchanged.
KEYS  1 article  2 voted
ARGV  1 id  2 title  3 link  4 poster  5 poster's name  6 now, s  7 groups, comma-separated
      8 when voting ends, s  9 grace, s  10 shard prefix  11 text, or ''
      12 members that the text mentions, comma-separated  13 HTML of the text, as it is kept
Returns  {"ok"} | {"exists"} | {"gone"} if the poster's account is deleted
Cost  O(log N)
TOUCHES  article:<id> rw, voted:<id> rw, leftout:<id> rw, votes:<user> rw, opposes:<user> rw, posted:<user> rw,
         inbox:<user> rw, gone: r, leftout: r, score: rw, time: rw, points: rw, active: rw, top:<period> rw,
         group:<slug> rw, score:<slug> rw, time:<slug> rw, points:<slug> rw, active:<slug> rw, hot:score rw,
         hot:score:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: rw
INCLUDE  articles, closing, formulas, inbox, lists, members, ranking, values
]]
local article, voted = KEYS[1], KEYS[2]
local id, poster, now, closes, grace, prefix = ARGV[1], ARGV[4], ARGV[6], ARGV[8], tonumber(ARGV[9]), ARGV[10]

if redis.call('EXISTS', article) == 1 then return {'exists'} end
if is_gone(prefix, poster) then return {'gone'} end
local current, _, passed = parameters(prefix), moments(prefix, now)

redis.call('HSET', article, 'title', ARGV[2], 'link', ARGV[3], 'poster', poster, 'poster_name', ARGV[5],
  'time', now, 'closes', closes, 'votes', 1, 'opposes', 0, 'groups', ARGV[7])
set_text(article, ARGV[11], ARGV[13])
local left_out = add_first_vote(prefix, voted, id, poster)
note_window(prefix, now, closes, current)
note_choice(prefix, id, poster, 'vote', now, passed - math.max(current.longest_window, closes - now) - grace)
note_posted(prefix, id, poster, now)
list_article(prefix, id, tonumber(now), ranked_points(1, 0, left_out), split(ARGV[7]), current)
note_mentions(prefix, article, ARGV[12], '', poster, root_of(id), now)
return {'ok'}
