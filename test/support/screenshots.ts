import { launch } from './chromium.js'
import { withDemo } from './demo.js'

/** Writes the pictures of the README from the demo. Emoji and CJK need fonts: fonts-noto-color-emoji, fonts-noto-cjk. */
const PICTURES = [
  { file: 'docs/pages-wide.png', path: '/?sort=votes', viewport: { width: 1080, height: 640 }, colorScheme: 'light' },
  { file: 'docs/pages-phone.png', path: '/roadmaps', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
] as const

await withDemo(async (address) => {
  const browser = await launch()
  for (const { file, path, ...options } of PICTURES) {
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    await page.goto(address + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: file })
  }
  await browser.close()
})
