import * as service from '../../service/backups.js'
import { FORMATS, site } from '../../service/exports.js'
import { pageNumber } from '../kit/addresses.js'
import { action, page, type View } from '../kit/page.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Pager } from '../parts/pager.js'
import { Again, ProgressScript } from '../parts/progress.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'

export const HOME = '/dashboard/settings/backups'

type Answer = Awaited<ReturnType<typeof service.list.run>>

/** The backups of the server. Their files are read and restored in its terminal alone. */
export const backups = page({
  cache: 'never',
  section: 'backups',
  load: (view) => view.call(service.list, { limit: 50, page: pageNumber(view) }),
  title: ({ t }) => t('backups.title'),
  head: (view, { task }) => (runs(task) ? <Again view={view} to={HOME} /> : null),
  show(view, answer) {
    const { t } = view
    const { backups: rows, total_count: total, total_pages: pages, is_old: isOld, task } = answer
    const isBusy = runs(task)
    const [newest] = pageNumber(view) === 1 ? rows.filter(({ redacted }) => !redacted) : []
    return (
      <>
        <Top view={view} title={t('backups.title')} count={t('backups.count', { count: total })}>
          {isBusy ? null : (
            <Form view={view} to={HOME}>
              <Submit>{t('backups.create')}</Submit>
            </Form>
          )}
        </Top>
        <p>{t('backups.explained')}</p>
        <Summary view={view} />
        <TaskNote view={view} task={task} />
        {isOld ? <p class="problem">{t(newest ? 'backups.old' : 'backups.missing')}</p> : null}
        <p class="soft">
          {answer.every === null ? t('backups.unscheduled') : t('backups.scheduled', { hours: hoursOf(view, answer) })}
        </p>
        {rows.length === 0 ? null : (
          <Table
            view={view}
            label={t('backups.title')}
            rows={rows}
            columns={[
              {
                label: t('backups.file'),
                kind: 'title',
                cell: ({ file, redacted }) => (
                  <>
                    <bdi>{file}</bdi> {redacted ? <span class="mark">{t('backups.redacted')}</span> : null}
                  </>
                ),
              },
              {
                label: t('backups.made'),
                cell: (backup) =>
                  isOld && backup === newest ? (
                    <strong class="problem">
                      <Time view={view} at={backup.createdAt} />
                    </strong>
                  ) : (
                    <Time view={view} at={backup.createdAt} />
                  ),
              },
              { label: t('backups.size'), kind: 'number', cell: ({ bytes }) => view.words.size(bytes) },
              { label: t('backups.encrypted'), cell: ({ encrypted }) => t(encrypted ? 'backups.yes' : 'backups.no') },
              { label: t('backups.rehearsal'), cell: (backup) => <Rehearsal view={view} backup={backup} /> },
              {
                label: t('backups.rehearse'),
                cell: ({ file }) =>
                  isBusy ? null : (
                    <Form view={view} to={`${HOME}/rehearse`}>
                      <Hidden name="file" value={file} />
                      <button type="submit" class="link" aria-label={t('backups.rehearseOne', { file })}>
                        {t('backups.rehearse')}
                      </button>
                    </Form>
                  ),
              },
            ]}
          />
        )}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
        <h2>{t('backups.take')}</h2>
        <p>{t('backups.takeExplained')}</p>
        <ul class="plain-list">
          {TAKEN.map(({ file, label }) => (
            <li>
              <a href={view.href(`${HOME}/${file}`)} download>
                {t(label)}
              </a>
            </li>
          ))}
        </ul>
      </>
    )
  },
})

/** What the site can be taken out as. */
const TAKEN = [
  { file: 'site.jsonl', label: 'backups.takeLines' },
  { file: 'csv.zip', label: 'backups.takeCsv' },
  { file: 'pages.zip', label: 'backups.takePages' },
] as const

const takenAs = (format: (typeof FORMATS)[number], bom = false) => ({ operation: site, input: () => ({ format, bom }) })

/** Excel opens what a browser saves. */
export const taken = { lines: takenAs('lines'), csv: takenAs('csv', true), pages: takenAs('pages') }

const hoursOf = ({ words }: View, { every }: Answer): string =>
  words.number(Math.max(1, Math.round((every ?? 0) / 3600)))

const runs = (task: Answer['task']): boolean => task?.state === 'waiting' || task?.state === 'running'

/** What was asked for last, and what has become of it. */
function TaskNote({ view, task }: { view: View; task: Answer['task'] }) {
  if (!task) return null
  const { t } = view
  const isRehearsal = task.kind === 'rehearse'
  if (task.state === 'failed')
    return (
      <p class="problem" role="status">
        {t(isRehearsal ? 'backups.rehearsalFailed' : 'backups.failed')} <q dir="auto">{task.error}</q>
      </p>
    )
  if (task.state === 'done')
    return (
      <p class="note" role="status">
        {t(isRehearsal ? 'backups.rehearsed' : 'backups.wasMade')} <bdi>{task.file}</bdi>
      </p>
    )
  return (
    <div data-progress="busy">
      <p class="note" role="status">
        {t(isRehearsal ? 'backups.rehearsing' : 'backups.making')} <a href={view.href(HOME)}>{t('backups.reload')}</a>
      </p>
      <ProgressScript view={view} />
    </div>
  )
}

function Rehearsal({ view, backup: { rehearsal } }: { view: View; backup: Answer['backups'][number] }) {
  if (!rehearsal) return <>{view.t('backups.never')}</>
  return (
    <>
      <span class={rehearsal.error === null ? undefined : 'mark spam'}>
        {view.t(rehearsal.error === null ? 'backups.matched' : 'backups.differed')}
      </span>{' '}
      <Time view={view} at={rehearsal.endedAt} />
    </>
  )
}

const treatAsDone = { BACKUP_RUNNING: () => ({ to: HOME, flash: 'backupRunning' as const }) }

export const create = action({
  operation: service.create,
  page: async () => backups,
  input: () => ({}),
  done: () => ({ to: HOME, flash: 'backupAsked' }),
  treatAsDone,
})

export const rehearse = action({
  operation: service.rehearse,
  page: async () => backups,
  input: (_view, { file }) => (file ? { file } : {}),
  done: () => ({ to: HOME, flash: 'rehearsalAsked' }),
  treatAsDone,
})
