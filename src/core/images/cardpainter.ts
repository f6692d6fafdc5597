// Runs in a process of its own: reads a card as JSON on stdin and writes a PNG to stdout. Pango lays out the text, and only
// with the bundled fonts.
import type SharpModule from 'sharp'
import type { Card } from './card.js'
import { begin, load } from './child.js'
import { CARD_HEIGHT, CARD_WIDTH } from './types.js'

const [MARGIN, BAND] = [80, 16]
const WIDTH = CARD_WIDTH - 2 * MARGIN
/** Font sizes in pixels: of the title, largest first, and of the lines above and below it. */
const [LARGE, SMALL] = [[84, 64], 34] as const
const [TITLE_TOP, TITLE_HEIGHT] = [170, 300]
const [INK, SOFT] = ['#16181d', '#5b6270']

const RTL = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}]/u

const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`)

async function paint(sharp: typeof SharpModule, { title, site, place, accent }: Card): Promise<Buffer> {
  /** Draws text in the first size that fits the height. If none fits, chooses a smaller one. */
  async function block(text: string, sizes: readonly number[], color: string, top: number, height: number) {
    const of = (size: number, more: object) =>
      sharp({
        text: {
          text: `<span foreground="${color}">${escaped(text)}</span>`,
          font: `Noto Sans Bold ${size}`,
          width: WIDTH,
          rgba: true,
          wrap: 'word-char',
          ...more,
        },
      })
        .png()
        .toBuffer({ resolveWithObject: true })
    let drawn
    for (const size of sizes) {
      drawn = await of(size, { dpi: 72 }) // a point is a pixel
      if (drawn.info.height <= height) break
    }
    if (!drawn || drawn.info.height > height) drawn = await of(SMALL, { height })
    const left = RTL.test(text) ? MARGIN + WIDTH - Math.min(drawn.info.width, WIDTH) : MARGIN
    return { input: drawn.data, left, top }
  }
  return sharp({ create: { width: CARD_WIDTH, height: CARD_HEIGHT, channels: 3, background: '#ffffff' } })
    .composite([
      { input: { create: { width: CARD_WIDTH, height: BAND, channels: 3, background: accent } }, left: 0, top: 0 },
      ...(site === undefined ? [] : [await block(site, [SMALL], SOFT, 72, 2 * SMALL)]),
      await block(title, LARGE, INK, TITLE_TOP, TITLE_HEIGHT),
      ...(place === undefined ? [] : [await block(place, [SMALL], SOFT, 530, 2 * SMALL)]),
    ])
    .png({ palette: true, colours: 64 })
    .toBuffer()
}

async function main(): Promise<void> {
  const card = JSON.parse((await begin()).toString()) as Card
  const sharp = load(['PngBuffer']) // for the parts that it composes
  if (sharp) process.stdout.write(await paint(sharp, card))
}

void main()
