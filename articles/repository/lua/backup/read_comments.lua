--[[
Read comments for a backup, each with its voters and flags. Reads only.
KEYS  1… comments
ARGV  1 shard prefix  2 most entries to read in one step  3… ids of the comments, in the same order
Returns  {number of ids examined, {id, '', {key without prefix, ms to live or -1, type, value}, …} of each that exists}; the
         value of a key of another type is false
Cost  O(entries), bounded by 2 unless a single comment has more
TOUCHES  comment:<comment> r, comment:voted:<comment> r, comment:oppose:<comment> r, flags:<comment> r
]]
local READ = {
  hash = function(key) return redis.pcall('HGETALL', key) end,
  set = function(key) return redis.pcall('SMEMBERS', key) end,
}
local prefix, most, comments, examined, done = ARGV[1], tonumber(ARGV[2]), {}, 0, 0

for at, key in ipairs(KEYS) do
  local id = ARGV[at + 2]
  if redis.call('EXISTS', key) == 1 then
    local comment = {id, ''}
    local names = {
      {'comment:' .. id, 'hash'}, {'comment:voted:' .. id, 'set'}, {'comment:oppose:' .. id, 'set'}, {'flags:' .. id, 'hash'},
    }
    for _, one in ipairs(names) do
      local life = redis.call('PTTL', prefix .. one[1])
      if life ~= -2 then
        local value = READ[one[2]](prefix .. one[1])
        comment[#comment + 1] = {one[1], life, one[2], not value.err and value or false}
        examined = examined + #value
      end
    end
    comments[#comments + 1] = comment
  end
  done, examined = done + 1, examined + 3
  if examined > most then break end
end
return {done, comments}
