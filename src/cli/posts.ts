import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { LIKELY } from '../core/search/likely.js'
import { listed, printable } from '../core/text.js'
import * as comments from '../service/comments.js'
import { votesAfter, type ListedPost } from '../service/lib/cells.js'
import type { Call } from '../service/lib/operation.js'
import type { DashboardPost, Post, PostRow } from '../service/lib/postshapes.js'
import * as merges from '../service/merges.js'
import * as posts from '../service/posts.js'
import { postTitled, uploadAll } from '../service/postupload.js'
import { profile } from '../service/profile.js'
import { register as registerDuplicates } from './duplicates.js'
import { register as registerFollows } from './follows.js'
import { register as registerMentions } from './mentions.js'
import { register as registerMerges } from './merges.js'
import { register as registerHistory } from './posthistory.js'
import { registerList, registerSearch } from './postlists.js'
import { register as registerMoves } from './postmoves.js'
import { register as registerReports } from './postreports.js'
import { register as registerPostTags } from './posttags.js'
import { register as registerSimilar, whyOf } from './similar.js'
import { register as registerTold } from './told.js'
import { foretoldOf, QUIET } from './audience.js'
import { registerUndo } from './lib/command/bulk.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Values } from './lib/flags/fieldoption.js'
import { detailColumns, rowColumns } from './postcolumns.js'

const rowOf = ({ board, roadmap, author, ...post }: DashboardPost): PostRow => ({
  ...post,
  userId: author.userId,
  boardId: board?.boardId ?? null,
  roadmap_id: roadmap?.id ?? null,
})

const id = (post: Pick<Post, 'slug'>) => post.slug
const rowId = (post: PostRow) => post.slug
const row = { columns: rowColumns, id: rowId, rows: ({ post }: { post: PostRow }) => [post] }
const text = {
  text: 'contentMarkdown',
  flags: { contentMarkdown: 'body', boardId: 'board', roadmapId: 'roadmap' },
} as const
const idAliases = ['postId', 'slug']
const label = (post: Pick<Post, 'number' | 'title'>) => `#${post.number} "${printable(post.title)}"`

/** The posts like one with this title. They are help: a post can be created where a server refuses to look for them. */
async function similarTo(call: Call, { title }: Values): Promise<readonly string[]> {
  try {
    const { posts: found, reasons } = await call(posts.similar, { title })
    const why = reasons.map(({ merged }) => (merged ? ` (${whyOf({ words: [], merged })})` : ''))
    return found
      .filter((_, at) => (reasons[at]?.score ?? 0) >= LIKELY)
      .map((post, at) => `${label(post)}${votesAfter(post.voters)}${why[at] ?? ''}`)
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}

export function register(group: Command, cli: Cli): void {
  registerList(group, cli)
  registerShow(group, cli)
  registerSearch(group, cli)
  registerSimilar(group, cli)
  registerDuplicates(group, cli)
  registerHistory(group, cli)
  registerCreate(group, cli)
  registerUpdate(group, cli)
  registerMoves(group, cli)
  registerMerges(group, cli)
  registerPostTags(group, cli)
  registerUndo(group, cli)
  registerDelete(group, cli)
  registerFollows(group, cli)
  registerMentions(group, cli)
  registerTold(group, cli)
  registerReports(group, cli)
}

function registerShow(group: Command, cli: Cli): void {
  command(
    group,
    posts.show,
    {
      usage: 'show <id:post>',
      examples: ['posts show 12'],
      output: {
        columns: detailColumns,
        id,
        rows: ({ post }: { post: DashboardPost }): readonly ListedPost[] => [post],
      },
      input: { hidden: [...idAliases, 'userId'] },
    },
    cli,
  )
}

function registerCreate(group: Command, cli: Cli): void {
  command(
    group,
    posts.create,
    {
      usage: 'create <title>',
      examples: [
        'posts create "Dark mode" --board ideas --body "My eyes hurt."',
        'posts create "Dark mode" --body-file - --as eve@example.org',
        'posts create - --board ideas < titles.txt',
        'posts create - < posts.csv',
      ],
      output: row,
      // Fails without an account, before somebody writes a text in the editor
      input: { ...text, editor: (call) => call(profile, {}).then(() => '') },
      lines: uploadAll,
      similar: similarTo,
      existing: {
        by: 'a post with this title on the board',
        find: postTitled,
        said: ({ post }) => `Post ${label(post)}`,
      },
      done: ({ post }) => `Created post ${label(post)}.`,
    },
    cli,
  )
}

function registerUpdate(group: Command, cli: Cli): void {
  command(
    group,
    posts.update,
    {
      usage: 'update <id:post...>',
      examples: [
        'posts update 12 --roadmap planned',
        'posts update 12 --roadmap complete --message "It is there."',
        'posts update 12 --roadmap complete --message "It is there." --dry-run',
        'posts update 12 --roadmap planned --no-tell',
        'posts update 12 --title "Dark theme"',
        'posts update 12 --pinned --locked comments',
        'posts update 12',
        'posts list -q --board ideas | feedbackctl posts update - --roadmap planned',
      ],
      output: row,
      input: {
        ...text,
        flags: { ...text.flags, quiet: QUIET.flag },
        texts: ['message'],
        switches: { quiet: QUIET },
        hidden: [...idAliases, 'partial'],
        defaults: { partial: true },
        async editor(call, { id: given, ...changes }) {
          if (Object.keys(changes).length > 0) return undefined
          const { post } = await call(posts.show, { id: given })
          return post.contentMarkdown ?? ''
        },
      },
      requiresChange: true,
      foretells: foretoldOf,
      done: ({ post }) => `Updated post ${label(post)}.`,
    },
    cli,
  )
}

function registerDelete(group: Command, cli: Cli): void {
  command(
    group,
    posts.remove,
    {
      usage: 'delete <id:post...>',
      examples: ['posts delete 12 13', 'posts delete 12 --yes'],
      output: { ...row, rows: () => [] },
      deletes: async (call, { id: given }) => rowOf((await call(posts.show, { id: given })).post),
      input: { hidden: idAliases },
      async confirm(call, { id: given }) {
        const { post } = await call(posts.show, { id: given })
        const { total_count: written } = await call(comments.list, { post_id: post.postId, limit: 1 })
        const { total_count: merged } = await call(merges.list, { post_id: post.postId, limit: 1 })
        const { votesCount: vote, votes_hidden: isHidden } = post.voters
        const loss = listed({ ...(!isHidden && { vote }), comment: written, 'merged post': merged }, isHidden ? ['its votes'] : []) // prettier-ignore
        return `Delete post ${label(post)}?${loss && ` This also deletes ${loss}.`}`
      },
      done: (_, given, { removed }) => `Deleted post ${removed ? label(removed) : String(given.id)}.`,
    },
    cli,
  )
}
