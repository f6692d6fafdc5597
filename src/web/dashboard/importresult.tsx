import type { Key } from '../../core/catalogue.js'
import { links } from '../../core/pagelinks.js'
import type { Product } from '../../service/importfiles.js'
import type { ImportPreview } from '../../service/lib/context.js'
import { isolated } from '../kit/bidi.js'
import type { View } from '../kit/page.js'
import { Table } from '../parts/table.js'

export const HOME = '/dashboard/settings/import'

export type Type = 'board' | 'status' | 'tag' | 'person' | 'image' | 'post' | 'vote' | 'comment' | 'merge' | 'other'

interface Part {
  found: number
  created: number
}

/** What became of the records of another product, or would. */
interface Balance {
  result: 'complete'
  balance: { type: Type; found: number; created: number; matched: number; existing: number; failed: number }[]
  byBoard: { boardId?: string | null; board?: string | null; posts: Part; votes: Part; comments: Part }[]
  failures: { type: Type; code: string; count: number; first: string; rows?: { row?: number; title?: string }[] }[]
  /** The first boards, statuses and tags that are new. Servers of earlier versions left it out. */
  places?: { type: Type; name: string }[]
  otherFailures?: number
  isBalanced: boolean
  linkedImages?: { count: number; images: { url: string }[] }
  missingImages?: { count: number; images: { type: Type; sourceId: string; name: string }[] }
  similar?: { count: number; looked: number; posts: { title: string; number: number; earlier: string }[] }
}

/** The same of an export of a site. */
interface Site {
  result: 'complete'
  same: boolean
  passwords: boolean
  owner: { email: string; hasPassword: boolean } | null
  types: { type: string; lines: number }[]
}

/** What is kept of an import that has ended. */
export type Answer = { product: Product; preview?: ImportPreview; notes: string[] } & (Balance | Site)

/** What each product writes, as names and kinds of files are in no language. */
const KINDS: Readonly<Record<Product, { name?: string; label?: Key; kind: string }>> = {
  feedbackctl: { label: 'import.own', kind: 'JSONL' },
  astuto: { name: 'Astuto', kind: 'JSON' },
  canny: { name: 'Canny', kind: 'CSV, JSON' },
  clearflask: { name: 'ClearFlask', kind: 'ZIP' },
  csv: { label: 'import.table', kind: 'CSV' },
  fider: { name: 'Fider', kind: 'ZIP, CSV' },
  github: { name: 'GitHub', kind: 'JSON' },
  quackback: { name: 'Quackback', kind: 'ZIP' },
  records: { label: 'import.records', kind: 'JSONL' },
  uservoice: { name: 'UserVoice', kind: 'CSV' },
}

export const nameOf = ({ t }: Pick<View, 't'>, product: Product): string => {
  const { name = '', label, kind } = KINDS[product]
  return `${label === undefined ? name : t(label)} (${kind})`
}

/** The balance sheet of an import. */
export function Result({ view, answer, isDry }: { view: View; answer: Answer; isDry: boolean }) {
  const { t } = view
  const { notes, preview } = answer
  return (
    <>
      {preview ? <Columns view={view} preview={preview} /> : null}
      {'balance' in answer ? (
        <Sheet view={view} done={answer} isDry={isDry} />
      ) : (
        <Lines view={view} site={answer} isDry={isDry} />
      )}
      {notes.length > 0 ? (
        <>
          <h3>{t('import.leftOut')}</h3>
          <ul>
            {notes.map((note) => (
              <li lang="en" dir="ltr">
                {note}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  )
}

const Columns = ({ view: { t }, preview: { columns } }: { view: View; preview: ImportPreview }) => (
  <p>
    {t('import.taken')}{' '}
    {columns.map(({ column, header }, at) => (
      <>
        {at > 0 ? ', ' : ''}
        <bdi>
          {column}={header}
        </bdi>
      </>
    ))}
  </p>
)

export const LABELS: Readonly<Record<Type, Key>> = {
  board: 'nav.boards',
  status: 'import.statuses',
  tag: 'tag.label',
  person: 'overview.people',
  image: 'import.images',
  post: 'nav.posts',
  vote: 'import.votes',
  comment: 'comments.title',
  merge: 'import.merges',
  other: 'import.others',
}

/** Images of other hosts that are named here; the API names more. */
const MOST_LINKS = 20
/** The names of missing images, for whoever looks for them. */
const MOST_MISSING = 100

function Sheet({ view, done, isDry }: { view: View; done: Balance; isDry: boolean }) {
  const { t, words } = view
  const { balance, byBoard, failures, otherFailures = 0, places = [], isBalanced, similar, linkedImages, missingImages } = done // prettier-ignore
  const column = (label: Key, key: 'found' | 'created' | 'matched' | 'existing' | 'failed') => ({
    label: t(label),
    kind: 'number' as const,
    cell: (row: Balance['balance'][number]) => words.number(row[key]),
  })
  return (
    <>
      {isBalanced ? null : <p class="problem">{t('import.differs')}</p>}
      <Table
        view={view}
        label={t('import.sheet')}
        rows={balance}
        columns={[
          { label: t('log.what'), kind: 'title', cell: ({ type }) => t(LABELS[type]) },
          column('import.found', 'found'),
          column(isDry ? 'import.new' : 'import.created', 'created'),
          column('import.matched', 'matched'),
          column('import.existing', 'existing'),
          column('import.failed', 'failed'),
        ]}
      />
      <p class="soft">{t('import.sheetHint')}</p>
      <Places view={view} places={places} isDry={isDry} />
      <ByBoard view={view} byBoard={byBoard} />
      <Failures view={view} failures={failures} others={otherFailures} />
      <LinkedImages view={view} linked={linkedImages} />
      <MissingImages view={view} missing={missingImages} />
      <Similar view={view} similar={similar} />
    </>
  )
}

/** The boards, statuses and tags that are new. */
function Places({ view, places, isDry }: { view: View; places: NonNullable<Balance['places']>; isDry: boolean }) {
  const { t, words } = view
  if (places.length === 0) return null
  return (
    <>
      <h3>{t(isDry ? 'import.newPlaces' : 'import.createdPlaces')}</h3>
      <ul>
        {(['board', 'status', 'tag'] as const).map((type) => {
          const names = places.filter((place) => place.type === type).map(({ name }) => isolated(name))
          return names.length === 0 ? null : <li>{words.labelled(t(LABELS[type]), words.list(names))}</li>
        })}
      </ul>
    </>
  )
}

/** The results for each board. */
function ByBoard({ view, byBoard }: { view: View; byBoard: Balance['byBoard'] }) {
  const { t, words } = view
  const part = (label: Key, key: 'posts' | 'votes' | 'comments') => ({
    label: t(label),
    kind: 'number' as const,
    cell: ({ [key]: { created, found } }: Balance['byBoard'][number]) =>
      t('import.of', { created: words.number(created), found: words.number(found) }),
  })
  if (byBoard.length === 0) return null
  return (
    <>
      <h3>{t('import.byBoard')}</h3>
      <Table
        view={view}
        label={t('import.byBoard')}
        rows={byBoard}
        columns={[
          {
            label: t('filter.board'),
            kind: 'title',
            cell: ({ board }) => (board === undefined ? t('import.unknown') : <bdi>{board ?? t('post.noBoard')}</bdi>),
          },
          part('nav.posts', 'posts'),
          part('import.votes', 'votes'),
          part('comments.title', 'comments'),
        ]}
      />
    </>
  )
}

/** The reasons why records were refused. */
function Failures({ view, failures, others }: { view: View; failures: Balance['failures']; others: number }) {
  const { t, words } = view
  if (failures.length === 0) return null
  return (
    <>
      <h3>{t('import.failed')}</h3>
      <ul>
        {failures.map(({ type, count, first, rows = [] }) => (
          <li>
            {t(LABELS[type])} · {words.number(count)}:{' '}
            <q lang="en" dir="ltr">
              {first}
            </q>
            <ul>
              {rows.map(({ row, title }) => (
                <li>
                  {row === undefined ? null : t('import.row', { number: words.number(row) })} <bdi>{title}</bdi>
                </li>
              ))}
              {rows.length > 0 && count > rows.length ? (
                <li>{t('import.otherRows', { count: count - rows.length })}</li>
              ) : null}
            </ul>
          </li>
        ))}
        {others > 0 ? <li>{t('import.otherCauses', { count: others })}</li> : null}
      </ul>
    </>
  )
}

/** Images on other hosts. An import does not copy them. */
function LinkedImages({ view: { t }, linked }: { view: View; linked: Balance['linkedImages'] }) {
  if (!linked) return null
  return (
    <>
      <h3>{t('import.linkedImages', { count: linked.count })}</h3>
      <p class="soft">{t('import.linkedHint')}</p>
      <ul>
        {linked.images.slice(0, MOST_LINKS).map(({ url }) => (
          <li>
            <bdi dir="ltr">{url}</bdi>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Images that the export lacks. */
function MissingImages({ view: { t }, missing }: { view: View; missing: Balance['missingImages'] }) {
  if (!missing) return null
  return (
    <>
      <h3>{t('import.missingImages', { count: missing.count })}</h3>
      <p class="soft">{t('import.missingHint')}</p>
      <ul>
        {missing.images.slice(0, MOST_MISSING).map(({ type, sourceId, name }) => (
          <li>
            {t(LABELS[type])} <bdi>{sourceId}</bdi>: <bdi dir="ltr">{name}</bdi>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Imported posts that are similar to earlier ones. */
function Similar({ view, similar }: { view: View; similar: Balance['similar'] }) {
  const { t } = view
  if (!similar) return null
  return (
    <>
      <h3>{t('import.similar', { count: similar.count })}</h3>
      <ul>
        {similar.posts.map(({ title, number, earlier }) => (
          <li>
            <bdi>{title}</bdi> · <a href={view.href(links.post(String(number)))}>{`#${number}`}</a> <bdi>{earlier}</bdi>
          </li>
        ))}
      </ul>
    </>
  )
}

function Lines({ view, site: { types, passwords, same }, isDry }: { view: View; site: Site; isDry: boolean }) {
  const { t, words } = view
  return (
    <>
      {isDry && !same ? <p>{t('import.ownLoss')}</p> : null}
      {passwords || same ? null : <p>{t('import.noPasswords')}</p>}
      <Table
        view={view}
        label={t('import.sheet')}
        rows={types}
        columns={[
          { label: t('log.what'), kind: 'title', cell: ({ type }) => <code dir="ltr">{type}</code> },
          { label: t('import.lines'), kind: 'number', cell: ({ lines }) => words.number(lines) },
        ]}
      />
    </>
  )
}
