// The same as wrk.lua, where wrk is not installed: sends the requests of a file in turn, from a place on, and reports as a line of JSON.
//   node autocannon.js URL CONNECTIONS SECONDS FILE PLACE
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const [url, connections, duration, file, place] = process.argv.slice(2)
const requests = JSON.parse(readFileSync(file, 'utf8')).map(({ method, path, headers, body }) => ({
  method,
  path,
  headers,
  body: body || undefined,
}))
let at = Number(place)
const inTurn = { setupRequest: (request) => ({ ...request, ...requests[at++ % requests.length] }) }

const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(duration),
  requests: requests.length === 1 ? requests : [inTurn],
})
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    refused: result['4xx'] + result['5xx'],
    broken: result.errors + result.timeouts,
    p50: result.latency.p50,
    p99: result.latency.p99,
    at,
  }),
)
