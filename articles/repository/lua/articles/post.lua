--[[
Publish an article with its poster's own vote. Idempotent: an existing id is left unchanged.
KEYS  1 article  2 voted
ARGV  1 id  2 poster  3 poster's name  4 now, s  5 groups, comma-separated  6 when voting ends, s  7 grace, s
      8 shard prefix  9 members that the text mentions, comma-separated  10 text, or ''
      11 HTML of the text, as it is kept  12… further content: fields, each followed by its value
Returns  {"ok"} | {"exists"} | {"gone"} if the poster's account is deleted
Cost  O(log N)
TOUCHES  article:<id> rw, voted:<id> rw, leftout:<id> rw, votes:<user> rw, opposes:<user> rw, posted:<user> rw,
         inbox:<user> rw, gone: r, leftout: r, <order>: rw, top:<period> rw, group:<slug> rw, <order>:<slug> rw,
         counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: rw
]]
local article, voted = KEYS[1], KEYS[2]
local id, poster, name, now, groups, closes, grace, prefix = unpack(ARGV)

if redis.call('EXISTS', article) == 1 then return {'exists'} end
if is_gone(prefix, poster) then return {'gone'} end
local current, _, passed = parameters(prefix), moments(prefix, now)

redis.call('HSET', article, 'poster', poster, 'poster_name', name, 'time', now, 'closes', closes, 'votes', 1,
  'opposes', 0, 'groups', groups, unpack(ARGV, 12))
set_text(article, ARGV[10], ARGV[11])
local left_out = add_first_vote(prefix, voted, id, poster)
note_window(prefix, now, closes, current)
note_choice(prefix, id, poster, 'vote', now, passed - math.max(current.longest_window, closes - now) - tonumber(grace))
note_posted(prefix, id, poster, now)
list_article(prefix, id, tonumber(now), 1, 0, left_out, split(groups), current)
note_mentions(prefix, article, ARGV[9], '', poster, root_of(id), now)
return {'ok'}
