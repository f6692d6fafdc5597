import { links } from '../../core/pagelinks.js'
import type { Post } from '../../service/lib/postshapes.js'
import { searchWords } from '../../core/search/words.js'
import { withParameters, withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { BoardChip, RoadmapChip, Tags } from './chip.js'
import { Marked } from './marked.js'
import { nameOf } from './person.js'
import { Table } from './table.js'
import { Time } from './time.js'

/** Names a post in a form. Unlike its id, it tells people which one it is where the post is gone. */
export const numberOf = ({ number }: Post): string => `#${number}`

/** Posts as rows, of which a form around them can change several. */
export function PostTable({ view, posts, query, canChoose, hasTags }: PostTableProps) {
  const { t, words } = view
  const marked = searchWords(query)
  const from = withParameters(view.url, {})
  return (
    <Table
      view={view}
      label={t('nav.posts')}
      rows={posts}
      sort="newest"
      {...(canChoose && {
        select: { name: 'ids', hasKeys: true, value: numberOf, label: ({ title }: Post) => title },
      })}
      columns={[
        {
          label: t('posts.votes'),
          sort: 'votes',
          kind: 'number',
          cell: (post) => words.number(post.voters.votesCount),
        },
        {
          label: t('post.title'),
          kind: 'title',
          cell: (post, row) => (
            <>
              <a
                href={view.href(withQuery(links.teamPost(post.slug), { from, row }))}
                data-key={canChoose ? 'o' : undefined}
              >
                <bdi>
                  <Marked text={post.title} words={marked} />
                </bdi>
              </a>{' '}
              {post.is_spam ? <span class="mark spam">{t('mark.spam')}</span> : null}
              {post.is_held ? <span class="mark">{t('mark.held')}</span> : null}
            </>
          ),
        },
        { label: t('filter.board'), cell: ({ board }) => (board ? <BoardChip view={view} board={board} /> : null) },
        {
          label: t('filter.roadmap'),
          cell: ({ roadmap }) => (roadmap ? <RoadmapChip view={view} roadmap={roadmap} /> : null),
        },
        hasTags && {
          label: t('tag.label'),
          cell: ({ tags }) => (tags ? <Tags view={view} tags={tags} most={3} to={links.teamTag} /> : null),
        },
        { label: t('posts.author'), cell: ({ author }) => <bdi>{nameOf(view, author)}</bdi> },
        {
          label: t('comment.title'),
          sort: 'discussed',
          kind: 'number',
          cell: (post) => words.number(post.commentsCount),
        },
        {
          label: t('posts.age'),
          sort: 'newest',
          kind: 'number',
          cell: (post) => <Time view={view} at={post.createdAt} />,
        },
      ]}
    />
  )
}

interface PostTableProps {
  view: View
  posts: readonly Post[]
  /** Words to mark. */
  query: string
  /** Whether rows can be chosen. */
  canChoose: boolean
  /** Whether the site has tags. */
  hasTags: boolean
}
