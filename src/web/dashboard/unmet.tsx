import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import { show } from '../../service/moderation.js'
import type { LiveView, View } from '../kit/page.js'
import { Time } from '../parts/time.js'

/** The address of a row on its page. */
export const anchorOf = (id: string): string => `row-${id}`

/** The error code of each failed decision, by id. They are in the address after a form was sent. */
export function unmetIn({ query }: Pick<View, 'query'>): Map<string, string> {
  const pairs = (query.unmet ?? '').split(',', 100).map((each) => each.split('.', 2))
  return new Map(pairs.flatMap(([id = '', code = '']) => (/^\w+$/.test(code) ? [[id, code]] : [])))
}

/** Names what could not be decided, each with its reason. */
export function Unmet({ view, titles, gone }: UnmetProps) {
  const { t, words } = view
  const unmet = [...unmetIn(view)]
  if (unmet.length === 0) return null
  const why = (code: string): string => {
    const [own, general] = [`decision.why.${code}`, `error.${code}`]
    return words.has(own) ? words.t(own) : words.has(general) ? words.t(general) : t('error.title')
  }
  return (
    <section class="unmet">
      <h2>{t('decision.unmet', { count: unmet.length })}</h2>
      <ul>
        {unmet.map(([id, code]) => (
          <li>
            <Name view={view} title={titles.get(id)} anchor={anchorOf(id)} gone={gone?.get(id)} />: {why(code)}
            <Decided view={view} by={gone?.get(id)?.decided} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface UnmetProps {
  view: View
  /** The titles of rows on the page, by id. */
  titles: ReadonlyMap<string, string>
  /** Rows that have left the page; see `goneOf`. */
  gone?: ReadonlyMap<string, Gone> | undefined
}

interface Gone extends Pick<Awaited<ReturnType<typeof lookUp>>, 'item' | 'decided'> {}

const lookUp = (view: LiveView, id: string) => view.call(show, { id })

/** The most rows that are looked up. */
const MOST_GONE = 10

/** Undecided rows that have left the page because somebody else decided them. Deleted ones are left out. */
export async function goneOf(view: LiveView, shown: readonly { id: string }[]): Promise<ReadonlyMap<string, Gone>> {
  const ids = [...unmetIn(view).keys()].filter((id) => !shown.some((each) => each.id === id))
  const found = new Map<string, Gone>()
  for (const id of ids.slice(0, MOST_GONE))
    try {
      found.set(id, await lookUp(view, id))
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
    }
  return found
}

/** Links to the row, or to the post of a row that has left the page. */
function Name({ view: { t, href }, title, anchor, gone }: NameProps) {
  if (title !== undefined) return <a href={`#${anchor}`}>{title}</a>
  if (!gone) return <>{t('decision.gone')}</>
  const { kind, post } = gone.item
  return (
    <a href={href(links.teamPost(post.slug))}>
      {kind === 'post' ? <bdi>{post.title}</bdi> : t('inbox.commentOn', { title: post.title })}
    </a>
  )
}

interface NameProps {
  view: View
  title: string | undefined
  anchor: string
  gone: Gone | undefined
}

/** The decision that was in the way: what, by whom and when. */
const Decided = ({ view, by }: { view: View; by: Gone['decided'] }) =>
  by === undefined ? null : (
    <p class="facts">
      <span>{view.t(`event.${by.action}` as 'event.post.kept')}</span>
      {by.person ? <bdi>{by.person.name || by.person.username}</bdi> : null}
      <Time view={view} at={by.at} />
    </p>
  )
