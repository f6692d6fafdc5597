-- Sends the requests of a file in turn, from a place on, and reports as a line of JSON.
-- Arguments: the file, of lines "LENGTH" each followed by so many bytes, and the place.
local requests = {}
-- Seconds in which a server that has nothing else to do accepts all connections, where requests differ. Node accepts one in each turn of its loop,
-- so under load the last would wait for thousands of requests of the others; and wrk counts a long wait as often as requests fit into it.
local settling = 0.3
at, paused = 0, 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  at = tonumber(args[2])
  local length = file:read('*n')
  while length do
    file:read(1)
    requests[#requests + 1] = file:read(length)
    length = file:read('*n')
  end
  file:close()
  if #requests == 1 then
    wrk.format = function() return requests[1] end -- kept by wrk, which then asks for no more
  else
    local function nextOne()
      at = at + 1
      return requests[(at - 1) % #requests + 1]
    end
    local function first() -- of the first connection, when all have been asked for
      os.execute('sleep ' .. settling)
      paused, request = settling, nextOne
      return nextOne()
    end
    request = function() -- looked at by wrk, not sent
      request = first
      return requests[1]
    end
  end
end

local thread

function setup(only)
  thread = only
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"refused":%d,"broken":%d,"p50":%f,"p99":%f,"at":%d}\n',
    summary.requests, summary.duration / 1e6 - thread:get('paused'), errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, thread:get('at')
  ))
end
