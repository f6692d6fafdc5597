import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs the work with a demo of the built program on loopback, and ends the demo. `address` has no slash at the end. */
export async function withDemo(work: (address: string) => Promise<void>): Promise<void> {
  const demo = spawn(process.execPath, ['bin/feedbackctl.js', 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let text = ''
    demo.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    while (!text.includes('\n')) await once(demo.stdout, 'data')
    const [address] = /http:\S+(?= in your browser)/.exec(text) ?? []
    if (address === undefined) throw new Error(`The demo printed no address: ${text}`)
    await work(address.replace(/\/$/, ''))
  } finally {
    demo.kill()
  }
}
