--[[
Note that an upgrade is complete: raise the version of the layout, unless another process has raised it further. Idempotent.
KEYS  1 the stamp
ARGV  1 version
Returns  {"ok"}
Cost  O(1)
TOUCHES  schema: rw
]]
if tonumber(redis.call('HGET', KEYS[1], 'version')) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'version', ARGV[1])
end
return {'ok'}
