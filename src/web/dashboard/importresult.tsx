import type { Key } from '../../core/catalogue.js'
import type { ErrorBody } from '../../core/errors.js'
import type { Product } from '../../service/importfiles.js'
import type { ImportPreview } from '../../service/lib/context.js'
import { links } from '../kit/links.js'
import type { Fields, View } from '../kit/page.js'
import { Form, Hidden, Submit } from '../parts/form.js'
import { Table } from '../parts/table.js'
import { Top } from '../parts/top.js'

export const HOME = '/dashboard/settings/import'

type Type = 'board' | 'status' | 'tag' | 'person' | 'post' | 'vote' | 'comment' | 'merge' | 'other'

interface Part {
  found: number
  created: number
}

/** What became of the records of another product, or would. */
interface Balance {
  result: 'complete'
  balance: { type: Type; found: number; created: number; matched: number; existing: number; failed: number }[]
  byBoard: { boardId?: string | null; board?: string | null; posts: Part; votes: Part; comments: Part }[]
  failures: { type: Type; code: string; count: number; first: string }[]
  otherFailures?: number
  isBalanced: boolean
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

export type AnswerLine =
  | { result: 'working' | 'failed' | 'taken' }
  | { result: 'note'; text: string }
  | { result: 'opened'; product: Product; preview?: ImportPreview; kept?: string }
  | { result: 'incomplete'; error: ErrorBody }
  | Balance
  | Site

export interface Answer {
  notes: string[]
  product: Product
  preview: ImportPreview | undefined
  kept: string | undefined
  done: Balance | undefined
  site: Site | undefined
}

interface Props {
  view: View
  title: string
  shown: { file: string; product: string }
  answer: Answer
  /** What was sent, for the form that imports what was checked. */
  form: Fields
  isDry: boolean
}

/** The balance sheet of an import, with the button that does what was checked. */
export function Result({ view, title, shown, answer, form, isDry }: Props) {
  const { t } = view
  const { done, site, notes, preview, kept } = answer
  const isOffered = isDry && kept !== undefined && site?.same !== true
  return (
    <>
      <Top view={view} title={title} back={{ to: HOME, text: t('import.title') }} />
      <p>
        <bdi>{shown.file}</bdi> {shown.file === '' ? null : '·'} <bdi>{shown.product}</bdi>
      </p>
      {isDry ? (
        <p class="note" role="status">
          {t(site?.same ? 'import.same' : 'import.nothingYet')}
        </p>
      ) : null}
      {preview ? <Columns view={view} preview={preview} /> : null}
      {done ? <Sheet view={view} done={done} isDry={isDry} /> : null}
      {site ? <Lines view={view} site={site} isDry={isDry} /> : null}
      {notes.length > 0 ? (
        <>
          <h2>{t('import.leftOut')}</h2>
          <ul>
            {notes.map((note) => (
              <li dir="auto">{note}</li>
            ))}
          </ul>
        </>
      ) : null}
      {isOffered ? (
        <Form view={view} to={`${HOME}/run`} class="buttons">
          {(['product', 'boardId', 'map', 'confirmed', 'name'] as const).map((name) => (
            <Hidden name={name} value={form[name]} />
          ))}
          <Hidden name="kept" value={kept} />
          <Submit>{t('import.run')}</Submit>
          <a class="button plain" href={view.href(HOME)}>
            {t('form.cancel')}
          </a>
        </Form>
      ) : null}
      {isDry || site?.owner ? null : (
        <p>
          <a href={view.href('/dashboard/posts')}>{t('nav.posts')}</a>
        </p>
      )}
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

const LABELS: Readonly<Record<Type, Key>> = {
  board: 'nav.boards',
  status: 'import.statuses',
  tag: 'tag.label',
  person: 'overview.people',
  post: 'nav.posts',
  vote: 'import.votes',
  comment: 'comments.title',
  merge: 'import.merges',
  other: 'import.others',
}

function Sheet({ view, done, isDry }: { view: View; done: Balance; isDry: boolean }) {
  const { t, words } = view
  const { balance, byBoard, failures, otherFailures = 0, isBalanced, similar } = done
  const column = (label: Key, key: 'found' | 'created' | 'matched' | 'existing' | 'failed') => ({
    label: t(label),
    kind: 'number' as const,
    cell: (row: Balance['balance'][number]) => words.number(row[key]),
  })
  const part = (label: Key, key: 'posts' | 'votes' | 'comments') => ({
    label: t(label),
    kind: 'number' as const,
    cell: ({ [key]: { created, found } }: Balance['byBoard'][number]) =>
      t('import.of', { created: words.number(created), found: words.number(found) }),
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
      {byBoard.length === 0 ? null : (
        <>
          <h2>{t('import.byBoard')}</h2>
          <Table
            view={view}
            label={t('import.byBoard')}
            rows={byBoard}
            columns={[
              {
                label: t('filter.board'),
                kind: 'title',
                cell: ({ board }) =>
                  board === undefined ? t('import.unknown') : <bdi>{board ?? t('post.noBoard')}</bdi>,
              },
              part('nav.posts', 'posts'),
              part('import.votes', 'votes'),
              part('comments.title', 'comments'),
            ]}
          />
        </>
      )}
      {failures.length === 0 ? null : (
        <>
          <h2>{t('import.failed')}</h2>
          <ul>
            {failures.map(({ type, count, first }) => (
              <li>
                {t(LABELS[type])} · {words.number(count)}: <q dir="auto">{first}</q>
              </li>
            ))}
            {otherFailures > 0 ? <li>{t('import.otherCauses', { count: otherFailures })}</li> : null}
          </ul>
          <p class="soft">{t('import.refusedHint')}</p>
        </>
      )}
      {similar ? (
        <>
          <h2>{t('import.similar', { count: similar.count })}</h2>
          <ul>
            {similar.posts.map(({ title, number, earlier }) => (
              <li>
                <bdi>{title}</bdi> · <a href={view.href(links.post(String(number)))}>{`#${number}`}</a>{' '}
                <bdi>{earlier}</bdi>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  )
}

function Lines({ view, site: { types, passwords, owner, same }, isDry }: { view: View; site: Site; isDry: boolean }) {
  const { t, words } = view
  return (
    <>
      {isDry && !same ? <p>{t('import.ownLoss')}</p> : null}
      {owner ? (
        <p class="note" role="status">
          {t('import.signedOut', { email: owner.email })} <a href={view.href('/login')}>{t('nav.login')}</a>
        </p>
      ) : null}
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
