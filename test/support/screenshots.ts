import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { launch } from './chromium.js'

/** Writes the pictures of the README from the demo. Emoji and CJK need fonts: fonts-noto-color-emoji, fonts-noto-cjk. */
const PICTURES = [
  { file: 'docs/pages-wide.png', path: '/?sort=votes', viewport: { width: 1080, height: 640 }, colorScheme: 'light' },
  { file: 'docs/pages-phone.png', path: '/roadmaps', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
] as const

const demo = spawn(process.execPath, ['bin/feedbackctl.js', 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] })
try {
  let text = ''
  demo.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  while (!text.includes('\n')) await once(demo.stdout, 'data')
  const [address] = /http:\S+(?= in your browser)/.exec(text) ?? []
  if (address === undefined) throw new Error(`The demo printed no address: ${text}`)
  const browser = await launch()
  for (const { file, path, ...options } of PICTURES) {
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    await page.goto(address.replace(/\/$/, '') + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: file })
  }
  await browser.close()
} finally {
  demo.kill()
}
