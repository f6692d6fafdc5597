import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { links } from '../core/pagelinks.js'
import { quoted } from '../core/text.js'
import { API_ROOT } from '../core/wire.js'
import * as boards from '../service/boards.js'
import type { Call } from '../service/lib/operation.js'
import * as posts from '../service/posts.js'
import * as roadmaps from '../service/roadmaps.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, isMachineReadable, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { openInBrowser } from './lib/terminal/browser.js'

const columns: Column<{ url: string }>[] = [{ head: 'ADDRESS', text: ({ url }) => url, drop: 0, whole: true }]

export function register(command: Command, cli: Cli): void {
  explain(command, { examples: ['open', 'open 12', 'open ideas --server https://feedback.example.org'] })
    .argument('[name]', 'a post by number, slug or id; a board or roadmap by url, name or id')
    .action(async (name: string | undefined) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config()
      const server = config.get('server')?.replace(/\/+$/, '')
      const root = server?.endsWith(API_ROOT) ? server.slice(0, -API_ROOT.length) : (server ?? config.get('site.url'))
      const path = name === undefined ? '/' : await linkTo(await cli.connect(), name)
      const body = { url: `${(root ?? '').replace(/\/+$/, '')}${path}` }
      if (cli.terminal.stdout.isTTY && !isMachineReadable(flags)) await openInBrowser(cli.terminal, body.url)
      await print(cli.terminal, isMachineReadable(flags) ? flags : { ...flags, output: flags.output ?? 'name' }, {
        body,
        rows: [body],
        columns,
        id: ({ url }) => url,
        single: true,
      })
    })
}

/** The row that a name means: a post first, as `12` is one; then a board; then a roadmap. Throws NOT_FOUND. */
async function linkTo(call: Call, name: string): Promise<string> {
  const post = await found(call(posts.show, { id: name.replace(/^#(?=\d+$)/, '') }))
  if (post) return links.post(post.post.slug)
  const board = await found(call(boards.show, { url: name }))
  if (board) return links.board(board.board.url)
  const roadmap = await found(call(roadmaps.show, { url: name }))
  if (roadmap) return links.roadmap(roadmap.roadmap.url)
  throw new AppError('NOT_FOUND', `There is no post, board or roadmap ${quoted(name)}.`)
}

/** Undefined where the operation finds nothing. */
const found = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof AppError && error.exit === 3 && error.code !== 'SITE_NOT_FOUND') return undefined
    throw error
  })
