import { readdir, readFile } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { counter, gauge, type Family } from './family.js'

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION_MS = 50
const NANOSECONDS = 1e9
const QUANTILES = [0.5, 0.99, 1]

/** Measures this process: its event loop from now on, and its memory, time and files when it is asked. */
export function watchProcess(): () => Promise<Family[]> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  return async () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const delays = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      // It counts the time between two looks
      value: Math.max(0, delay.percentile(quantile * 100) / NANOSECONDS - RESOLUTION_MS / 1000),
    }))
    delay.reset()
    return [
      counter('process_cpu_seconds_total', 'CPU time of all processes of the server.', (user + system) / 1e6),
      gauge('process_start_time_seconds', 'When the server started, as Unix time.', Math.round(performance.timeOrigin) / 1000, 'min'), // prettier-ignore
      gauge('process_resident_memory_bytes', 'Memory of all processes of the server.', rss, 'sum'),
      gauge('nodejs_heap_size_used_bytes', 'Memory of the objects of JavaScript.', heapUsed, 'sum'),
      ...(await files()),
      gauge('feedbackctl_event_loop_delay_seconds', 'How late the event loop was since the last scrape: half of the time at most, 99 % of the time, and the most.', delays, 'max'), // prettier-ignore
    ]
  }
}

/** Open files and how many may be open. Nothing where there is no /proc, as on macOS. */
async function files(): Promise<Family[]> {
  try {
    const [open, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')])
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
    return [
      gauge('process_open_fds', 'Open files and connections of the process that has most.', open.length, 'max'),
      ...(Number.isNaN(limit) ? [] : [gauge('process_max_fds', 'How many a process may have open.', limit, 'min')]),
    ]
  } catch {
    return []
  }
}

/** The value is always 1: what counts is in the labels. */
export const buildInfo = (version: string): Family =>
  gauge('feedbackctl_build_info', 'The version of feedbackctl, and of Node.', [{ labels: { version, node: process.versions.node }, value: 1 }], 'max') // prettier-ignore
