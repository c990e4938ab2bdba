--[[
Read articles for a backup, each with all that is kept with it and backed up. Reads only. Sketches of visitors are only
named, because they are no text.
KEYS  1 times of the last views
ARGV  1 shard prefix  2 most entries, and hundreds of bytes of texts, to read in one step  3… ids
Returns  {number of ids examined, {id, time of its last view or '', {key without prefix, ms to live or -1, type, value}, …}
         of each that exists}; the value of a key of another type is false
Cost  O(entries), bounded by 2 unless a single article has more
TOUCHES  article:<id> r, voted:<id> r, oppose:<id> r, leftout:<id> r, brought:<id> r, flags:<comment> r,
         counter:views:<id> r, hll:uv:<id> r, counter:suspect:<id> r, days:<id> r, viewed: r, history:<id> r
]]
local prefix, most, articles, examined, done = ARGV[1], tonumber(ARGV[2]), {}, 0, 0
local READ = {
  hash = function(key) return redis.pcall('HGETALL', key) end,
  set = function(key) return redis.pcall('SMEMBERS', key) end,
  zset = function(key) return redis.pcall('ZRANGE', key, 0, -1, 'WITHSCORES') end,
  list = function(key) return redis.pcall('LRANGE', key, 0, -1) end,
  string = function(key) return redis.pcall('GET', key) end,
  sketch = function() return '' end,
}

local function keys_of(id)
  return {
    {'article:' .. id, 'hash'}, {'voted:' .. id, 'set'}, {'oppose:' .. id, 'set'}, {'leftout:' .. id, 'set'},
    {'brought:' .. id, 'zset'},
    {'counter:views:' .. id, 'string'}, {'hll:uv:' .. id, 'sketch'}, {'counter:suspect:' .. id, 'hash'}, {'days:' .. id, 'hash'}, {'history:' .. id, 'list'},
    {'flags:' .. comment_id(id, 0), 'hash'},
  }
end

for at = 3, #ARGV do
  local id = ARGV[at]
  if redis.call('EXISTS', prefix .. 'article:' .. id) == 1 then
    local article = {id, redis.call('ZSCORE', KEYS[1], id) or ''}
    for _, one in ipairs(keys_of(id)) do
      local key, kind = prefix .. one[1], one[2]
      local life = redis.call('PTTL', key)
      if life ~= -2 then
        local value = READ[kind](key)
        local is_read = type(value) ~= 'table' or not value.err
        article[#article + 1] = {one[1], life, kind, is_read and value or false}
        examined = examined + (type(value) == 'table' and #value or 1)
      end
    end
    articles[#articles + 1] = article
  end
  local bytes = tonumber(redis.pcall('HSTRLEN', prefix .. 'article:' .. id, 'text')) or 0
  done, examined = done + 1, examined + 5 + bytes / 100
  if examined > most then break end
end
return {done, articles}
