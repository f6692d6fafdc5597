import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Prints a table of what the tests counted. */
export default class Figures implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.flatMap((module) => Array.from(module.children.allTests(), cellsOf))
    const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
    const line = (row: readonly string[]) =>
      `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
    const table = [
      line(['fault', 'result', 'figures']),
      line(widths.map((width) => '-'.repeat(width))),
      ...rows.map(line),
    ]
    process.stdout.write(`\n${table.join('\n')}\n`)
  }
}

const cellsOf = (test: TestCase): string[] => {
  const { state } = test.result()
  return [test.fullName, state === 'passed' ? 'holds' : state, test.meta().figures ?? '']
}
