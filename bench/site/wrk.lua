-- Send the requests of a file, each thread its own share; print what bench/site/load.py reads.
-- Arguments after "--": the file, the index of the first request, the number of threads. Requests are separated by SEPARATOR of load.py.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local text = file:read("*a")
  file:close()
  all = {}
  local from, separator = 1, "\n\1\n"
  while true do
    local at = string.find(text, separator, from, true)
    if not at then break end
    all[#all + 1] = string.sub(text, from, at - 1)
    from = at + #separator
  end
  next_one = tonumber(args[2]) + number
  step = tonumber(args[3])
end

function request()
  local one = all[next_one % #all + 1]
  next_one = next_one + step
  return one
end

function done(summary, latency)
  local errors = summary.errors
  local unanswered = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("load requests=%d microseconds=%d p50=%d p99=%d refused=%d failures=%d\n",
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.status + unanswered))
end
