import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import type { Post } from '../../service/lib/postshapes.js'
import * as posts from '../../service/posts.js'
import { find, type SearchHit } from '../../service/search.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { searchScript } from '../kit/assets.js'
import { page, Redirect, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { Select } from '../parts/filters.js'
import { assertTidy, filterOf, roadmapsWith } from '../parts/lists.js'
import { Pager } from '../parts/pager.js'
import { PostList, type Found } from '../parts/postlist.js'
import { SearchForm } from '../parts/search.js'

/** Hits on a page, and pages of them. */
const SIZE = 20
const PAGES = 10

/** What can be typed, each with what it does. */
const HELP = [
  ['"dark mode"', 'search.helpPhrase'],
  ['-dark', 'search.helpWithout'],
  ['board:ideas', 'search.helpBoard'],
  ['status:planned', 'search.helpStatus'],
  ['author:eve', 'search.helpAuthor'],
  ['tag:mobile', 'search.helpTag'],
  ['is:open', 'search.helpOpen'],
  ['is:done', 'search.helpDone'],
  ['is:mine', 'search.helpMine'],
  ['votes:>10', 'search.helpVotes'],
  ['after:2026-01-31', 'search.helpTime'],
  ['#12', 'search.helpNumber'],
] as const

export const search = page({
  cache: 'never',
  isUnlisted: true,
  async load(view) {
    assertTidy(view)
    const text = filterOf(view).trim()
    const { roadmap } = view.query
    const { rows: stages } = await roadmapsWith(view, roadmap)
    const nothing = { text, stages, numbered: undefined, found: [], unknown: [], hasNext: false, isCapped: false }
    if (text === '') return nothing
    const numbered = pageNumber(view) === 1 ? await postNumbered(view, text) : undefined
    const isTyped = view.query.typed !== undefined // the number may go on
    if (numbered && text.startsWith('#') && !isTyped) throw new Redirect(links.post(numbered.slug))
    const stage = stages.find(({ url, id }) => roadmap === url || roadmap === id)
    const {
      hits,
      unknown,
      page_info: info,
      is_capped: isCapped,
    } = await view.call(find, {
      query: text,
      ...(stage && { roadmapId: stage.id }),
      page: Math.min(pageNumber(view), PAGES),
      limit: SIZE,
    })
    const found = hits.filter(({ post }) => post.postId !== numbered?.postId)
    return { text, stages, numbered, found, unknown, hasNext: info.has_next_page, isCapped }
  },
  title: ({ t }, { text }) => (text === '' ? t('search.title') : t('search.results', { text })),
  show(view, { text, stages, numbered, found, unknown, hasNext, isCapped }) {
    const { t, href, query } = view
    const isCopy = view.copiedAt !== undefined
    const at = Math.min(pageNumber(view), PAGES)
    const seen = (at - 1) * SIZE + found.length + (numbered ? 1 : 0)
    return (
      <>
        <h1>{text === '' ? t('search.title') : t('search.results', { text })}</h1>
        <SearchForm view={view} text={text} autofocus={text === ''}>
          <Select
            name="roadmap"
            label={t('filter.roadmap')}
            all={t('filter.allRoadmaps')}
            of={stages}
            value={query.roadmap}
          />
        </SearchForm>
        {isCopy ? null : (
          <details class="history tips" open={text === ''}>
            <summary>{t('search.help')}</summary>
            <ul>
              {HELP.map(([typed, key]) => (
                <li>
                  <code>{typed}</code> {t(key)}
                </li>
              ))}
            </ul>
          </details>
        )}
        <p class="search-status hidden" role="status" />
        <div class="search-results">
          {numbered === undefined && found.length === 0 ? null : (
            <p class="soft count">
              {hasNext || isCapped ? t('search.more', { count: seen }) : t('board.posts', { count: seen })}
            </p>
          )}
          {numbered ? (
            <section class="numbered">
              <h2>{t('search.numbered', { number: String(numbered.number) })}</h2>
              <PostList view={view} posts={[numbered]} />
            </section>
          ) : null}
          {found.length > 0 ? (
            <>
              <PostList view={view} posts={found.map(postOf)} found={found.map((hit) => foundOf(hit))} />
              {hasNext || isCopy ? null : <Write view={view} text={text} />}
            </>
          ) : text === '' || numbered ? null : (
            <Empty title={t('search.none')}>
              {unknown.length > 0 ? <p>{t('search.unknown', { parts: unknown.join(', ') })}</p> : null}
              <p>{t('search.noneNext')}</p>
              {query.roadmap ? (
                <a class="button plain" href={href(withQuery('/search', { q: text }))}>
                  {t('search.anyStatus')}
                </a>
              ) : null}
              <Write view={view} text={text} isFirst />
            </Empty>
          )}
          <Pager view={view} page={at} pages={0} hasNext={hasNext} isCapped={isCapped} />
        </div>
        {isCopy ? null : <script src={href(searchScript.path)} type="module" />}
      </>
    )
  },
})

/** Leads to a new post with what was searched for as its title. */
const Write = ({ view, text, isFirst = false }: { view: View; text: string; isFirst?: boolean }) => (
  <a
    class={isFirst ? 'button primary' : 'button plain'}
    href={view.href(withQuery(links.newPost, { title: text.slice(0, 100) }))}
  >
    {view.t('search.write')}
  </a>
)

const postOf = ({ post }: SearchHit): Post => ({ ...post, contentMarkdown: null })

const foundOf = ({ post, comment, ...hit }: SearchHit): Found => ({
  titleMarks: hit.title_marks,
  excerpt: hit.excerpt,
  excerptMarks: hit.excerpt_marks,
  ...(comment && { comment: { href: links.comment(post.slug, comment.id), author: comment.author } }),
})

/** The post whose number is searched for: `7`, or `#7`. A number may also be a word of other posts. */
async function postNumbered(view: View, text: string): Promise<Post | undefined> {
  const [, id] = /^#?0*(\d{1,9})$/.exec(text) ?? []
  if (id === undefined) return undefined
  try {
    const { post } = await view.call(posts.show, { id })
    return { ...post, board: post.board ?? null }
  } catch (error) {
    if (error instanceof AppError && error.code === 'POST_NOT_FOUND') return undefined
    throw error
  }
}
