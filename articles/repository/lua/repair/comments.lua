--[[
Put some comments of one shard into exactly the lists that their hashes require. Idempotent. A comment whose parent is not
there becomes a top-level one; one whose article is not there is dropped.
KEYS  1 comments that have been voted on
ARGV  1 shard prefix  2 now, s  3… ids
Returns  {state, time, …} of each; the state is "shown" | "removed" | "stub" | "damaged" | "missing"
Cost  O(ids · log N)
TOUCHES  article:<id> r, comment:<comment> rw, comment:voted:<comment> rw, comment:oppose:<comment> rw,
         comment:voters: rw, replies:best:<comment> rw, replies:time:<comment> rw, commented:<user> rw, gone: r,
         leftout: r, ranking: r
INCLUDE  closing, comments, members, ranking
]]
local prefix, states = ARGV[1], {}
local now = moments(prefix, ARGV[2])

local function list_voters(id, closes)
  local sets = {prefix .. 'comment:voted:' .. id, prefix .. 'comment:oppose:' .. id}
  if redis.call('EXISTS', unpack(sets)) == 0 then return redis.call('ZREM', KEYS[1], id) end
  for _, set in ipairs(sets) do redis.call('PERSIST', set) end
  redis.call('ZADD', KEYS[1], closes, id)
end

local function list_author(id, comment, author, name, time)
  if not is_member(author) or tonumber(author) < 1 then return end
  if not is_left_named(prefix, author, name) then
    return redis.call('ZADD', prefix .. 'commented:' .. author, time, id)
  end
  redis.call('HSET', comment, 'author', '-1', 'author_name', '')
  redis.call('ZREM', prefix .. 'commented:' .. author, id)
end

for at = 3, #ARGV do
  local id, state = ARGV[at], 'damaged'
  local comment, root = prefix .. 'comment:' .. id, comment_id(article_of(id), 0)
  local text, author, name, parent, time, closes, votes, opposes, removed, deleted, left_out = unpack(redis.call('HMGET',
    comment, 'text', 'author', 'author_name', 'parent', 'time', 'closes', 'votes', 'opposes', 'removed', 'deleted', 'left_out'))
  if redis.call('EXISTS', prefix .. 'article:' .. article_of(id)) == 0 then redis.call('UNLINK', comment) end
  if redis.call('EXISTS', comment) == 0 then
    drop_comment_voters(prefix, id)
    state = 'missing'
  elseif is_whole_comment(parent, time, closes, votes, opposes) and (deleted or text and author and name) then
    local is_there = article_of(parent) == article_of(id) and redis.call('EXISTS', prefix .. 'comment:' .. parent) == 1
    if parent ~= root and not is_there then
      unrank_reply(prefix, parent, id)
      parent = redis.call('HSET', comment, 'parent', root) == 0 and root
    end
    if is_open(now, tonumber(closes)) then left_out = leave_out_of_comment(prefix, id, left_out) end
    rank_reply(prefix, parent, id, time, votes, opposes, left_out)
    list_voters(id, closes)
    if deleted then redis.call('HDEL', comment, 'html') else list_author(id, comment, author, name, time) end
    state = deleted and 'stub' or removed and 'removed' or 'shown'
  end
  states[#states + 1], states[#states + 2] = state, time or ''
end
return states
