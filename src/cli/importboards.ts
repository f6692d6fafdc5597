import { colorLevel, say, widthOf, type ColorFlag, type Terminal } from './lib/terminal/terminal.js'
import type { Column } from './lib/output/table.js'

interface Part {
  found: number
  created: number
  skipped: number
}

/** What an import had for a board. `board` is absent where its records do not say which one, `boardId` where the site has none. */
export interface OfBoard {
  boardId?: string | null
  board?: string | null
  posts: Part
  votes: Part
  comments: Part
}

interface Balance {
  byBoard: readonly OfBoard[]
  /** The posts of the source that the site has now, with all their votes. */
  boards: readonly { boardId: string | null; board: string | null; posts: number; votes: number }[]
}

const amounts = (head: string, of: 'posts' | 'votes' | 'comments'): Column<OfBoard>[] =>
  (['found', 'created', 'skipped'] as const).map((key) => ({
    head: key === 'found' ? head : key.toUpperCase(),
    text: (row) => String(row[of][key]),
    right: true,
    drop: 0,
  }))

/** Shows on stderr how many posts, votes and comments came in by board, and how many votes are there now. */
export async function showBoards(terminal: Terminal, flags: ColorFlag, { byBoard, boards }: Balance): Promise<void> {
  if (byBoard.length === 0) return
  const { drawTable } = await import('./lib/output/table.js')
  const there = new Map<string | null | undefined, number>(boards.map(({ boardId, votes }) => [boardId, votes]))
  const columns: Column<OfBoard>[] = [
    { head: 'BOARD', text: ({ board }) => (board === undefined ? '(unknown)' : (board ?? '(none)')), drop: 0 },
    ...amounts('POSTS', 'posts'),
    ...amounts('VOTES', 'votes'),
    { head: 'HERE', text: ({ board, boardId }) => (board === undefined ? '' : String(there.get(boardId) ?? 0)), right: true, drop: 0 },
    ...amounts('COMMENTS', 'comments'),
  ] // prettier-ignore
  const { stderr } = terminal
  const style = { width: widthOf(stderr), color: colorLevel(terminal, stderr, flags), wide: false, now: terminal.now() }
  for (const line of drawTable(columns, byBoard, style).split('\n')) say(terminal, line)
}
