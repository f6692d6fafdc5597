import path from 'node:path'
import type { Command } from 'commander'
import type { Static } from 'typebox'
import type { Listed } from '../backup/verify.js'
import { parse } from '../core/fields.js'
import { counted, sizeText } from '../core/text.js'
import { backupFields, backupPage } from '../service/lib/backuppages.js'
import { localList } from './lib/command/locallist.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { tell } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'

export const LISTED: (keyof Listed)[] = ['file', 'bytes', 'createdAt', 'version', 'schema', 'site', 'engine', 'encrypted', 'redacted'] // prettier-ignore

export const fileColumn: Column<Listed> = { head: 'FILE', text: ({ file }) => file, whole: true, drop: 0 }
export const listColumns: Column<Listed>[] = [
  { ...fileColumn, shown: ({ file }) => path.basename(file) }, // the folder is said once
  { head: 'SIZE', field: 'bytes', text: ({ bytes }) => String(bytes), shown: ({ bytes }) => sizeText(bytes), right: true, drop: 1 }, // prettier-ignore
  { head: 'CREATED', field: 'createdAt', text: ({ createdAt }) => createdAt, shown: ({ createdAt }, _paint, now) => ago(createdAt, now), drop: 0 }, // prettier-ignore
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 2 },
  { head: 'VERSION', text: ({ version: made }) => made },
  { head: 'ENCRYPTED', text: ({ encrypted }) => (encrypted ? 'yes' : ''), ifAny: true, drop: 3 },
  { head: 'REDACTED', text: ({ redacted }) => (redacted ? 'yes' : ''), ifAny: true, drop: 1 },
]

export function registerList(group: Command, cli: Cli): void {
  const leaf = explain(withFields(group.command('list'), LISTED), {
    local: true,
    examples: ['backup list', 'backup list --since 30d', 'backup list --all --json'],
  })
    .description('List the backups in a folder')
    .argument('[folder]', 'folder (default: backup.dir)')
  localList<Listed, Awaited<ReturnType<typeof backupPage<Listed>>>>(leaf, cli, {
    fields: backupFields,
    columns: listColumns,
    id: ({ file }) => file,
    rows: ({ backups }) => backups,
    list: 'backups',
    async open({ args: [folder] }) {
      const config = await cli.config()
      assertLocal(config, 'backup list')
      const { readFolder } = await import('../backup/verify.js')
      const { backups: all, unread } = await readFolder(config, folder)
      const place = path.resolve(folder ?? config.get('backup.dir') ?? '')
      let total = 0
      return {
        async read(input) {
          const answer = await backupPage(all, parse(backupFields, input) as Static<typeof backupFields>)
          total = answer.total_count
          return answer
        },
        empty: all.length === 0 ? `There is no backup in ${place}.` : `No backup in ${place} is of that time.`,
        after() {
          if (total > 0) tell(cli.terminal, `${counted(total, 'backup')} in ${place}`)
          for (const { why } of unread) tell(cli.terminal, `Not listed: ${why}`)
        },
      }
    },
  })
}
