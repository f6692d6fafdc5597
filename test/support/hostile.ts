import fc from 'fast-check'

/** Repeats a text up to a length. */
const upTo = (length: number, text: string): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)
const lines = (length: number, line: (number: number) => string): string =>
  Array.from({ length: Math.ceil(length / 4) }, (_, number) => line(number))
    .join('\n')
    .slice(0, length)

/** Markdown that is slow to parse, or that becomes much more HTML than it is long. By kind, of any length. */
export const HOSTILE: Readonly<Record<string, (length: number) => string>> = {
  'a table of empty cells': (length) =>
    upTo(length, `|${'a|'.repeat(200)}\n|${'-|'.repeat(200)}\n`).slice(0, 804) + upTo(length - 804, '|\n'),
  'a long table': (length) => `a|b\n-|-\n${upTo(length - 8, 'a|b\n')}`,
  'many tables': (length) => upTo(length, 'a|b\n-|-\n'),
  'deep quotes': (length) => upTo(length, '>'),
  'lazy quotes': (length) => upTo(length, '> a\nb\n'),
  'a long list': (length) => upTo(length, '- a\n'),
  'nested lists': (length) => lines(length, (number) => `${'  '.repeat(number % 100)}- a`),
  'many links': (length) => upTo(length, '[a](b)'),
  'open brackets': (length) => upTo(length, '['),
  'open links': (length) => upTo(length, '[a]('),
  'open pictures': (length) => upTo(length, '!['),
  'one reference, used often': (length) => `[a]: https://${'x'.repeat(500)}\n\n${upTo(length, '[a]')}`.slice(0, length),
  'many references': (length) => lines(length, (number) => `[${number}]: x`),
  emphasis: (length) => upTo(length, '*_*_'),
  'half emphasis': (length) => upTo(length, '*a**b'),
  headings: (length) => upTo(length, '# a\n'),
  'backticks of all lengths': (length) => lines(length, (number) => '`'.repeat(number % 300)),
  addresses: (length) => upTo(length, 'a@b.co '),
  'HTML in lists': (length) => upTo(length, '- <div>\n'),
  comments: (length) => upTo(length, '<!-- '),
}

const PREFIXES = ['', '> ', '>> ', '- ', '1. ', '    ', '| ', '# ', '*', '[', '![', '&amp;', '\t']

/** Any mixture of these, each in quotes, lists, cells, emphasis or links, up to a length. */
export const hostileText = (longest: number): fc.Arbitrary<string> =>
  fc
    .array(
      fc.record({
        kind: fc.constantFrom(...Object.keys(HOSTILE)),
        length: fc.integer({ min: longest / 4, max: longest }),
        prefix: fc.constantFrom(...PREFIXES),
        isJoined: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) =>
      parts
        .map(({ kind, length, prefix, isJoined }) => {
          const all = (HOSTILE[kind]?.(length) ?? '').split('\n').map((line) => prefix + line)
          return all.join(isJoined ? ' ' : '\n')
        })
        .join('\n\n')
        .slice(0, longest),
    )
