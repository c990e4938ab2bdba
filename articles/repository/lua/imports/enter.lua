--[[
Enter articles of one shard with their history. Idempotent: an existing id is left unchanged.
KEYS  1 removed articles
ARGV  1 shard prefix  2 now, s  3 first placeholder user id  4 number of values of each article  5… these: id, poster,
      poster's name, time in s, votes, opposes, groups (comma-separated), when voting ends in s, reason of its removal or
      '', why its discussion is locked or '', numbers kept free for comments that imports/enter_comments enters, when it
      was edited in s or '', votes by members (comma-separated): user id, vote or oppose, and time in s, text or '', HTML
      of the text, as it is kept, and further content: fields, each followed by its value
Returns  of each article "ok" | "exists" | "gone" if the poster's account is deleted
Cost  O(articles · log N + votes of those that are open)
TOUCHES  article:<id> rw, voted:<id> rw, oppose:<id> rw, leftout:<id> rw, votes:<user> rw, opposes:<user> rw,
         posted:<user> rw, gone: r, leftout: r, <order>: rw, top:<period> rw, removed: rw, group:<slug> rw,
         <order>:<slug> rw, counter:views:<id> r, hll:uv:<id> r, next:score rw, changes: rw, ranking: rw
]]
local prefix, now, first_placeholder = ARGV[1], moments(ARGV[1], ARGV[2]), tonumber(ARGV[3])
local width, current, statuses, listed, names = tonumber(ARGV[4]), parameters(prefix), {}, {}, {}
local any_gone = redis.call('EXISTS', prefix .. 'gone:') == 1

local function enter(id, poster, name, time, votes, opposes, groups, closes, reason, locked, numbers, edited, ballots, text,
  html, ...)
  local article, voted, left_out = prefix .. 'article:' .. id, prefix .. 'voted:' .. id, nil
  if any_gone and is_gone(prefix, poster) then return 'gone' end
  redis.call('HSET', article, 'poster', poster, 'poster_name', name, 'time', time, 'closes', closes, 'votes', votes,
    'opposes', opposes, 'groups', groups, ...)
  if text ~= '' then set_text(article, text, html) end
  if edited ~= '' then redis.call('HSET', article, 'edited', edited) end
  if locked ~= '' then redis.call('HSET', article, 'locked', locked) end
  if tonumber(numbers) > 0 then redis.call('HSET', article, 'comment_ids', numbers, 'comments_imported', 0) end
  if is_open(now, closes) then
    note_window(prefix, time, closes, current)
    for _, one in ipairs(enter_voters(prefix, voted, prefix .. 'oppose:' .. id, ballots, votes, opposes, first_placeholder)) do
      note_choice(prefix, id, one.user, one.choice, one.at, -math.huge)
      left_out = leave_out(prefix, id, one.user, 'none', is_left_out(prefix, one.user) and one.choice or 'none', left_out)
    end
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
