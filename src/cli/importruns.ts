import type { Command } from 'commander'
import * as importruns from '../service/importruns.js'
import type { ListedRun } from '../service/importruns.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { stated } from './lib/prompts/dryrun.js'
import { explain } from './lib/flags/helptext.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const sum = (counts: readonly (number | null)[]): number => counts.reduce<number>((all, count) => all + (count ?? 0), 0)

/** The number of records that are done, and the total if a check has counted it. */
function progressOf({ done }: ListedRun): string {
  const count = sum(done.map((each) => each.done))
  return done.length > 0 && done.every(({ found }) => found !== null)
    ? `${count} of ${sum(done.map(({ found }) => found))}`
    : String(count)
}

const columns: Column<ListedRun>[] = [
  { head: 'ID', field: 'runId', text: ({ runId }) => runId, drop: 0, short: true },
  { head: 'FILE', field: 'name', text: ({ name }) => name, drop: 2 },
  { head: 'CHECK', field: 'isCheck', text: ({ isCheck }) => (isCheck ? 'check' : ''), ifAny: true, drop: 3 },
  {
    head: 'STATE',
    field: 'state',
    text: ({ state }) => state,
    shown: ({ state }, paint) => (state === 'failed' || state === 'stopped' ? paint.red(state) : state),
    drop: 0,
  },
  { head: 'RECORDS', field: 'done', text: progressOf, right: true, drop: 0 },
  { head: 'REFUSED', field: 'refused', text: ({ refused }) => String(refused), right: true, drop: 4 },
  {
    head: 'LEFT OUT',
    field: 'refusedLeftOut',
    text: ({ refusedLeftOut }) => (refusedLeftOut > 0 ? String(refusedLeftOut) : ''),
    right: true,
    ifAny: true,
    drop: 4,
  },
  { head: 'BY', field: 'by', text: ({ by }) => by ?? '', drop: 5 },
  {
    head: 'ASKED',
    field: 'askedAt',
    text: ({ askedAt }) => askedAt,
    shown: ({ askedAt }, _paint, now) => ago(askedAt, now),
    drop: 1,
  },
  { head: 'ERROR', text: ({ error }) => error?.message ?? '', ifAny: true, drop: 1 },
]

const id = ({ runId }: ListedRun): string => runId

export function registerRuns(group: Command, cli: Cli): void {
  const runs = explain(
    group.command('runs').description('Show the imports that a server does in the background, and cancel them'),
    {
      examples: ['import runs list', 'import runs show 01a202e3-3cc8-735d-91d8-dbcd6073c7b2 --json'],
      notes: [
        'Lists the last ten imports that ran in the background, started on the Import page or with POST /import/runs. RECORDS counts the records that are done, REFUSED those in the file of refused records, and LEFT OUT those beyond the limit of that file.',
      ],
    },
  )
  command(
    runs,
    importruns.list,
    {
      usage: 'list',
      examples: ['import runs list', 'import runs list --json --server https://feedback.example.org'],
      output: {
        columns,
        id,
        rows: (answer) => answer.runs,
        list: true,
        empty: () => 'No imports have run in the background yet.',
      },
    },
    cli,
  )
  command(
    runs,
    importruns.show,
    {
      usage: 'show <runId>',
      examples: ['import runs show 01a202e3-3cc8-735d-91d8-dbcd6073c7b2 --json'],
      output: { columns, id, rows: ({ run }) => (run ? [run] : []) },
    },
    cli,
  )
  command(
    runs,
    importruns.cancel,
    {
      usage: 'cancel <runId>',
      examples: ['import runs cancel 01a202e3-3cc8-735d-91d8-dbcd6073c7b2'],
      output: { columns, id, rows: ({ run }) => [run] },
      done: ({ run: { endedAt } }) =>
        stated(
          endedAt === null ? 'The server ends the import. What is imported stays.' : 'The import has ended already.',
        ),
    },
    cli,
  )
}
