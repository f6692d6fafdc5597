import { counted, sizeText } from '../../../core/text.js'
import { say, type Terminal } from './terminal.js'

/** Milliseconds between two signs of life: on a terminal, and elsewhere. */
const [REDRAW, LINE] = [100, 5000]
/** Characters of a bar. */
const WIDTH = 20

/** Shows how far long work is: one line that changes on a terminal, a line now and then elsewhere. `end` removes it. */
function signs(
  terminal: Terminal,
  hasLines = true,
): { show(this: void, text: () => string): void; end(this: void): void } {
  const { stderr } = terminal
  let last = performance.now()
  let isDrawn = false
  return {
    show(text) {
      if (!stderr.isTTY && !hasLines) return
      if (performance.now() - last < (stderr.isTTY ? REDRAW : LINE)) return
      last = performance.now()
      if (stderr.isTTY) stderr.write(`\r\u001b[2K${text()}`)
      else say(terminal, text())
      isDrawn = true
    },
    end() {
      if (isDrawn && stderr.isTTY) stderr.write('\r\u001b[2K')
    },
  }
}

/** For work whose end is not known: the rows of each table as they come. */
export function progress(terminal: Terminal): {
  report(this: void, table: string, rows: number): void
  end(this: void): void
} {
  const { show, end } = signs(terminal)
  return { report: (table, rows) => show(() => `${table}: ${counted(rows.toLocaleString('en'), 'row')} …`), end }
}

/** For work whose end is not known: how much is done. `hasLines` false: on a terminal only, as stderr has lines of JSON. */
export function counter(
  terminal: Terminal,
  hasLines: boolean,
): { report(this: void, done: string): void; end(this: void): void } {
  const { show, end } = signs(terminal, hasLines)
  return { report: (done) => show(() => `${done} …`), end }
}

/** Milliseconds without a sign of life, for what mostly takes less. */
const PATIENCE = 1000

/** For a transfer whose end is not known: rows, where they are known, and bytes. On a terminal only. */
export function transferred(
  terminal: Terminal,
  isShown: boolean,
  noun = 'row',
): { add(this: void, rows: number, bytes: number): void; end(this: void): void } {
  const { show, end } = signs(terminal, false)
  const start = performance.now()
  let [rows, bytes] = [0, 0]
  return {
    add(moreRows, moreBytes) {
      rows += moreRows
      bytes += moreBytes
      if (!isShown || performance.now() - start < PATIENCE) return
      show(() => `${rows > 0 ? `${counted(rows.toLocaleString('en'), noun)}, ` : ''}${sizeText(bytes)} …`)
    },
    end,
  }
}

/** For work in several steps: a bar, as soon as the number of all rows is known. */
export function progressBar(terminal: Terminal): {
  report(this: void, step: string, table: string, rows: number, all: number | undefined): void
  end(this: void): void
} {
  const { show, end } = signs(terminal)
  return {
    report(step, table, rows, all) {
      show(() =>
        all === undefined
          ? `${step} ${table}: ${counted(rows.toLocaleString('en'), 'row')} …`
          : `${step} ${barOf(rows / Math.max(all, 1))} ${table}`,
      )
    },
    end,
  }
}

/**
 * For steps of which each may take long and let nothing else happen: a bar on a terminal, drawn before each step. Other
 * readers get the result alone.
 */
export function stepBar({ stderr }: Terminal): {
  report(this: void, step: string, done: number, all: number): void
  end(this: void): void
} {
  const draw = (text: string) => void (stderr.isTTY && stderr.write(`\r\u001b[2K${text}`))
  return { report: (step, done, all) => draw(`${barOf(done / all)} ${step}`), end: () => draw('') }
}

function barOf(share: number): string {
  const full = Math.floor(Math.min(share, 1) * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${String(Math.floor(Math.min(share, 1) * 100)).padStart(3)} %`
}
