--[[
Enter articles of one shard with their history. Idempotent: an existing id is left unchanged.
KEYS  1 removed articles
ARGV  1 shard prefix  2 now, s  3 first placeholder user id  4 number of values of each article  5… these: id, poster,
      poster's name, time in s, votes, opposes, groups (comma-separated), when voting ends in s, reason of its removal or
      '', why its discussion is locked or '', numbers kept free for comments that imports/enter_comments enters, text or
      '', HTML of the text, as it is kept, and further content: fields, each followed by its value
Returns  of each article "ok" | "exists" | "gone" if the poster's account is deleted
Cost  O(articles · log N + votes of those that are open)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, votes:<user> rw, opposes:<user> rw,
         posted:<user> rw, gone: r, leftout: r, <order>: rw, top:<period> rw, removed: rw, group:<slug> rw,
         <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: rw
]]
local prefix, now, first_placeholder = ARGV[1], moments(ARGV[1], ARGV[2]), tonumber(ARGV[3])
local width, current, statuses, listed, names = tonumber(ARGV[4]), parameters(prefix), {}, {}, {}
local any_gone = redis.call('EXISTS', prefix .. 'gone:') == 1

local function enter(id, poster, name, time, votes, opposes, groups, closes, reason, locked, numbers, text, html, ...)
  local article, voted, left_out = prefix .. 'article:' .. id, prefix .. 'voted:' .. id, nil
  if any_gone and is_gone(prefix, poster) then return 'gone' end
  redis.call('HSET', article, 'poster', poster, 'poster_name', name, 'time', time, 'closes', closes, 'votes', votes,
    'opposes', opposes, 'groups', groups, ...)
  if text ~= '' then set_text(article, text, html) end
  if locked ~= '' then redis.call('HSET', article, 'locked', locked) end
  if tonumber(numbers) > 0 then redis.call('HSET', article, 'comment_ids', numbers, 'comments_imported', 0) end
  if is_open(now, closes) then
    note_window(prefix, time, closes, current)
    local is_named = tonumber(poster) > 0 and tonumber(votes) > 0
    if is_named then
      left_out = add_first_vote(prefix, voted, id, poster)
      note_choice(prefix, id, poster, 'vote', time, -math.huge)
    end
    local placeholder = enter_voters(voted, is_named and votes - 1 or tonumber(votes), first_placeholder)
    enter_voters(prefix .. 'oppose:' .. id, tonumber(opposes), placeholder)
  end
  note_posted(prefix, id, poster, time)
  local one = {id = id, time = tonumber(time), votes = votes, opposes = opposes, left_out = left_out, groups = split(groups)}
  if reason == '' then
    listed[#listed + 1] = one
  else
    redis.call('HSET', article, 'removed', reason)
    redis.call('ZADD', KEYS[1], time, id)
  end
  return 'ok'
end

for at = 5, #ARGV, width do names[#names + 1] = prefix .. 'article:' .. ARGV[at] end
local known = existing(names)
for n, name in ipairs(names) do
  statuses[n] = known[name] and 'exists' or enter(unpack(ARGV, 5 + (n - 1) * width, 4 + n * width))
end
list_articles(prefix, listed, current)
return statuses
