import { AppError } from '../core/errors.js'
import { quoted } from '../core/text.js'
import type { LongBody, Piece } from '../service/lib/download.js'

/** Characters of the first and of the last line of an export at most, which tell that it is whole. */
const MOST_OF_LINE = 1000
const HEADER = '{"type":"header",'
const END = /^\{"type":"end","lines":(\d+)\}\n$/

/** A body that fails as it is taken where it has another media type: what ends it ends the connection too. */
export const ofType = (body: LongBody, type: string): LongBody => ({ ...body, pieces: piecesOf(body, type) })

async function* piecesOf(body: LongBody, type: string): AsyncGenerator<Piece> {
  for await (const piece of body.pieces) {
    if (body.type !== type) break
    yield piece
  }
  if (body.type !== type) throw wrong(`its type is ${quoted(body.type)}`)
}

/** Reads the lines of an export. Throws if the text is not an export, or if lines are missing. */
export const wholeLines = (body: LongBody): LongBody => ({
  ...body,
  pieces: checked(ofType(body, 'application/jsonl').pieces),
})

async function* checked(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let [start, last, ended] = ['', '', 0]
  for await (const piece of pieces) {
    const { text } = piece
    if (start.length < HEADER.length) {
      start = (start + text).slice(0, HEADER.length)
      if (!HEADER.startsWith(start)) throw wrong('its first line is not a header')
    }
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ended += 1
    last = (last + text).slice(-MOST_OF_LINE)
    yield piece
  }
  const said = END.exec(last.slice(last.lastIndexOf('\n', last.length - 2) + 1))?.[1]
  if (said === undefined) throw wrong('its last line is missing')
  if (Number(said) !== ended - 1) throw wrong(`its last line says ${said} lines, and it has ${ended - 1}`)
}

const wrong = (why: string): AppError =>
  new AppError('SERVER_UNREACHABLE', `What the server sent is no whole export: ${why}.`)

/** How much an export of some boards leaves out. */
export interface LeftOut {
  boards: number
  posts: number
  mergedPosts: number
  people: number
}

interface Header {
  boards?: string[]
  leftOut?: LeftOut
}

/** Characters of the first line that are kept: it has the urls of the boards. */
const MOST_OF_HEADER = 100_000

/** The same body, and the first line of it once that was taken: empty where it is none of ours. */
export function headed(body: LongBody): { body: LongBody; header(this: void): Header } {
  let start = ''
  async function* pieces(): AsyncGenerator<Piece> {
    for await (const piece of body.pieces) {
      if (!start.includes('\n') && start.length < MOST_OF_HEADER) start += piece.text
      yield piece
    }
  }
  const header = (): Header => {
    try {
      return JSON.parse(start.split('\n', 1)[0] ?? '') as Header // what our servers write
    } catch {
      return {}
    }
  }
  return { body: { ...body, pieces: pieces() }, header }
}
