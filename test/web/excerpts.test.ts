import { describe, expect, it } from 'vitest'
import { excerptCached, excerptOf } from '../../src/core/markdown/excerpt.js'
import { heapUsed } from '../support/heap.js'

describe('an excerpt', () => {
  it.each([
    ['# Dark **mode**\n\nPlease, *soon*', 'Dark mode · Please, soon'],
    ['one\ntwo  \nthree', 'one two three'],
    ['Takes a morning:\n\n- j: next\n- k: previous', 'Takes a morning: j: next · k: previous'],
    ['* first\n* second\n\n1. third', 'first · second · third'],
    ['see [the docs](https://example.com/x) and <https://example.com>', 'see the docs and https://example.com'],
    ['![a picture](https://example.com/a.png) beside', 'beside'],
    ['`a < b && c` and\n\n```js\nlet x = "<b>"\n```', 'a < b && c and · let x = "<b>"'],
    ['| a | b |\n| - | - |\n| 1 | 2 |', 'a b · 1 2'],
    ['> quoted &amp; &lt;script&gt;', 'quoted & <script>'],
    ['> - j and k\n>   next\n> - s: set the status\n\n----\n\nEnd', 'j and k next · s: set the status · End'],
    ['| a | |\n| - | - |\n| | 2 |', 'a · 2'],
    ['![](https://example.com/a.png)\n\n- \n- one', 'one'],
    ['----\n\n', ''],
  ])('has the words of %j', (markdown, words) => {
    expect(excerptOf(markdown)).toBe(words)
  })

  it('ends between words', () => {
    const text = excerptOf('word '.repeat(100), 52)
    expect(text).toBe(`${'word '.repeat(10).trim()}…`)
    expect(excerptOf('x'.repeat(300))).toBe(`${'x'.repeat(240)}…`)
  })

  it('keeps no text in memory when it is cached', () => {
    const before = heapUsed()
    for (let number = 0; number < 1000; number++) excerptCached(Buffer.alloc(60_000, `post ${number} `).toString())
    expect(heapUsed() - before).toBeLessThan(20_000_000) // of 60 MB
  })
})
