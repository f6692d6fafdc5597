import type { Command } from 'commander'
import { printable } from '../core/text.js'
import { undo } from '../service/eventundo.js'
import * as events from '../service/events.js'
import type { Event } from '../service/events.js'
import { columns, id } from './events.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'

/** Fields that the question names with both values. */
const MOST = 3
const MOST_CHARACTERS = 40

const label = ({ id: number, action, subject, subject_id: row }: Event) =>
  `event ${number}, ${action} of ${printable(subject === null ? row : `"${subject}"`)}`

const value = (text: string | null): string => {
  if (text === null) return 'none'
  const shown = printable(text)
  return shown.length > MOST_CHARACTERS ? `"${shown.slice(0, MOST_CHARACTERS).toWellFormed()}…"` : `"${shown}"`
}

/** The fields, from what they are to what they become. */
function wayBack({ details }: Event): string {
  const changes = (details ?? []).filter(({ before, after }) => before !== null || after !== null)
  const said = changes.slice(0, MOST).map(({ field, before, after }) => `${field} from ${value(after)} to ${value(before)}`) // prettier-ignore
  if (changes.length > MOST) said.push(`and ${changes.length - MOST} more`)
  return said.length === 0 ? '' : `: ${said.join(', ')}`
}

export function register(group: Command, cli: Cli): void {
  command(
    group,
    undo,
    {
      usage: '<id>',
      examples: ['undo 812', 'undo 812 --dry-run', 'undo 812 --yes'],
      output: { columns, id, rows: ({ event }): readonly Event[] => [event] },
      fixes: { CONTENT_CHANGED: ['events list'] },
      async confirm(call, { id: number }) {
        const { event } = await call(events.show, { id: number })
        return { question: `Undo ${label(event)}${wayBack(event)}?`, isFinal: false }
      },
      done({ event, undone_by: made }) {
        const by = made.length === 0 ? '' : `, in event ${made.join(', ')}`
        return `Took back ${label(event)}${by}.`
      },
    },
    cli,
  )
}
