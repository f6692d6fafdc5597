import type { Piece } from './download.js'

/** Reads rows page by page, each after the last row of the page before. A page with fewer rows than `size` is the last. */
export async function* pagesOf<Row>(
  size: number,
  read: (page: { limit: number; after: Row | undefined }) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after: Row | undefined; ;) {
    const rows = await read({ limit: size, after })
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    after = rows.at(-1)
  }
}

/** A JSON document: the fields of `head`, then lists that are read page by page, then the fields of `tail`. */
export async function* jsonDocument(
  head: object,
  lists: Readonly<Record<string, AsyncIterable<readonly unknown[]>>>,
  tail: object,
): AsyncGenerator<Piece> {
  let isFirst = true
  const begin = (name: string) => {
    const text = `${isFirst ? '{\n' : ',\n'}  ${JSON.stringify(name)}: `
    isFirst = false
    return text
  }
  const field = ([name, value]: [string, unknown]): Piece => ({ text: begin(name) + indented(value, '  '), rows: 0 })
  yield* Object.entries(head).map(field)
  for (const [name, pages] of Object.entries(lists)) {
    yield { text: `${begin(name)}[`, rows: 0 }
    let separator = '\n'
    for await (const rows of pages)
      for (const row of rows) {
        yield { text: `${separator}    ${indented(row, '    ')}`, rows: 1 }
        separator = ',\n'
      }
    yield { text: separator === '\n' ? ']' : '\n  ]', rows: 0 }
  }
  yield* Object.entries(tail).map(field)
  yield { text: `${isFirst ? '{' : '\n'}}\n`, rows: 0 }
}

const indented = (value: unknown, indent: string): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
