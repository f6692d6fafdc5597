import { source, type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

interface Checked {
  axe: { run(options: object): Promise<AxeResults> }
}

/** The rules of axe that a page breaks, with the elements that break them. What it passes is not described: that takes longest. */
export async function violationsOf(page: Page): Promise<[rule: string, elements: string[]][]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    await page.addInitScript(source) // for the next pages, because sending half a megabyte to each takes long
    await page.evaluate(source)
  }
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as Checked
    const { violations } = await axe.run({ resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
  })
}
