import type { Traffic } from '../http/lib/traffic.js'
import { counter, type Family, type Sample } from './family.js'

const REQUESTS = 'feedbackctl_http_requests_total'
const DURATION = 'feedbackctl_http_request_duration_seconds'

/** Requests of visitors. The histogram has no label for the operation, as each would add a dozen series. */
export function measureTraffic(traffic: Traffic): Family[] {
  const requests = [...traffic.requests()].map(({ operation, part: surface, status, cache, count: value }) => ({
    labels: { operation, surface, status, cache },
    value,
  }))
  return [
    counter(REQUESTS, 'Requests, by operation or route, status class, and whether a cached response was sent.', requests), // prettier-ignore
    {
      name: DURATION,
      help: 'How long requests took until the response was handed to the system.',
      type: 'histogram',
      aggregator: 'sum',
      values: [...traffic.durations()].flatMap(({ part: surface, seconds, count, upTo }): Sample[] => [
        ...upTo.map(({ bound, count: value }) => bucket(surface, String(bound), value)),
        bucket(surface, '+Inf', count),
        { labels: { surface }, value: seconds, metricName: `${DURATION}_sum` },
        { labels: { surface }, value: count, metricName: `${DURATION}_count` },
      ]),
    },
  ]
}

const bucket = (surface: string, le: string, value: number): Sample => ({
  labels: { surface, le },
  value,
  metricName: `${DURATION}_bucket`,
})
