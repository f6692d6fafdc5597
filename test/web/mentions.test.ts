import { describe, expect, it } from 'vitest'
import { mentionsIn } from '../../src/core/markdown/index.js'

describe('mentions in Markdown', () => {
  it.each([
    ['@ann and @bea, @ann again', ['ann', 'bea']],
    [
      '@ann, (@bea) "@cleo"? @dan. @eve: @flo; *@gil* ~~@hal~~ @ian!',
      'ann bea cleo dan eve flo gil hal ian'.split(' '),
    ],
    ['@ada_qh5xpd8x @Ada.B-c @x_', ['ada_qh5xpd8x', 'Ada.B-c', 'x_']],
    ['@ann... @bea- @cleo.', ['ann', 'bea', 'cleo']],
    ['- @ann\n\n> @bea\n\n# @cleo\n\n| a |\n| - |\n| @dan |', ['ann', 'bea', 'cleo', 'dan']],
    ['a mail to a@b.c, me@example.org or mailto:me@example.org', []],
    ['müller@ann.de, ann@bea, .@ann, /@ann, @@ann', []],
    ['@ann@example.social', []],
    ['`@ann` and\n\n```\n@bea\n```\n\n    @cleo', []],
    ['https://example.org/@ann, example.org/@bea and <https://example.org/@cleo>', []],
    ['[@ann](https://example.org) and [x](https://example.org/@bea "@cleo") and ![@dan](/x.png)', []],
    ['\\@ann and &#64;bea', []],
    ['@ada\\_q', ['ada_q']],
    ['谢谢@ann', ['ann']],
    [`@${'a'.repeat(30)} @${'b'.repeat(31)}`, ['a'.repeat(30)]],
    ['@ @- @.', []],
    ['&lt;@ann&gt;', ['ann']],
  ])('of %j', async (markdown, names) => {
    expect(await mentionsIn(markdown)).toEqual(names)
  })

  it('are twenty at most, in long texts too', async () => {
    const names = Array.from({ length: 30 }, (_, number) => `person${number}`)
    const text = `${names.map((name) => `@${name}`).join(' ')}\n\n`
    expect(await mentionsIn(text)).toEqual(names.slice(0, 20))
    expect(await mentionsIn(`${'word '.repeat(10_000)}\n\n${text}`)).toEqual(names.slice(0, 20))
  })
})
