--[[
Keep the HTML of a text with it, unless the text has changed meanwhile. Idempotent.
KEYS  1 article or comment
ARGV  1 text  2 its HTML, as it is kept
Returns  {"ok"} | {"changed"}
Cost  O(1)
TOUCHES  article:<id> rw, comment:<comment> rw
]]
if redis.call('HGET', KEYS[1], 'text') ~= ARGV[1] then return {'changed'} end
redis.call('HSET', KEYS[1], 'html', ARGV[2])
return {'ok'}
