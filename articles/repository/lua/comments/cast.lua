--[[
Set one member's choice on a comment. Idempotent: the choice is a target state.
KEYS  1 comment  2 article  3 new accounts of the network; only for a new account
ARGV  1 comment id  2 user id  3 choice (vote|oppose|none)  4 now, s  5 shard prefix
      6 time that refills one vote of the member's limit, ms  7 time that refills all, ms
      8 accounts of a voting ring  9 its period, s; both only with key 3
Returns  {"ok", votes, opposes, choice, accounts of the voting ring that this completes, else 0} | {"no_comment"}
         | {"comment_removed"} | {"removed"} | {"gone"} | {"own_comment"} | {"comment_closed"}
         | {"limited", time to wait, ms}
Cost  O(log N)
TOUCHES  article:<id> rw, comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw,
         comment:voters: rw, replies:<order>:<comment> rw, gone: r, leftout: r, ring:<id>:<network> rw, rings: rw,
         ranking: r, limit:votes:<user> rw
]]
local comment = KEYS[1]
local id, user, choice, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local now = moments(prefix, ARGV[4])

local author, parent, time, closes, votes, opposes, hidden, deleted, left_out = unpack(redis.call('HMGET', comment,
  'author', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted', 'left_out'))
if deleted or not is_whole_comment(parent, time, closes, votes, opposes) then return {'no_comment'} end
if hidden then return {'comment_removed'} end
local posted_at, article_removed, merged = unpack(redis.call('HMGET', KEYS[2], 'time', 'removed', 'merged'))
if article_removed and not merged then return {'removed'} end
if is_gone(prefix, user) then return {'gone'} end
if author == user then return {'own_comment'} end
if not is_open(now, tonumber(closes)) then return {'comment_closed'} end
local wait = take_use(prefix .. 'limit:votes:' .. user, milliseconds(now), tonumber(ARGV[6]), tonumber(ARGV[7]))
if wait > 0 then return {'limited', wait} end

-- What needs memory comes first: a full store refuses a script there, but not once the script has written.
if choice ~= 'none' then redis.call('ZADD', prefix .. 'comment:voters:', closes, id) end
local vote_change, oppose_change =
  set_choice(prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id, user, choice)
votes, opposes = votes + vote_change, opposes + oppose_change
local ring = 0
if vote_change ~= 0 or oppose_change ~= 0 then
  redis.call('HSET', comment, 'votes', votes, 'opposes', opposes)
  rank_reply(prefix, parent, id, time, votes, opposes, leave_out_of_comment(prefix, id, left_out))
  if KEYS[3] and choice ~= 'none' and posted_at and not merged then
    ring = note_new_account(prefix, KEYS[3], article_of(id), user, now, ARGV[8], ARGV[9], id)
  end
end
return {'ok', votes, opposes, choice, ring}
