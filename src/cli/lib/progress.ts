import { counted } from '../../core/text.js'
import { say, type Terminal } from './terminal.js'

/** Milliseconds between two signs of life: on a terminal, and elsewhere. */
const [REDRAW, LINE] = [100, 5000]

/** Shows how far long work is: one line that changes on a terminal, a line now and then elsewhere. `end` removes it. */
export function progress(terminal: Terminal): {
  told(this: void, table: string, rows: number): void
  end(this: void): void
} {
  const { stderr } = terminal
  let last = performance.now()
  let isDrawn = false
  return {
    told(table, rows) {
      if (performance.now() - last < (stderr.isTTY ? REDRAW : LINE)) return
      last = performance.now()
      const text = `${table}: ${counted(rows.toLocaleString('en'), 'row')} …`
      if (stderr.isTTY) stderr.write(`\r\u001b[2K${text}`)
      else say(terminal, text)
      isDrawn = true
    },
    end() {
      if (isDrawn && stderr.isTTY) stderr.write('\r\u001b[2K')
    },
  }
}
