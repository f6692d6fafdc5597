import type { TestSequencer, TestSpecification } from 'vitest/node'

/** The files that take longest, longest first, so that none of them begins as the last. */
const LONGEST = [
  'web/pseudo',
  'cli/aside',
  'faults/interrupted',
  'web/attacks',
  'service/scenarios',
  'cli/backup',
  'cli/serve',
  'http/property',
  'cli/newmachine',
  'cli/freshness',
]

export class LongestFirst implements TestSequencer {
  async shard(specs: TestSpecification[]): Promise<TestSpecification[]> {
    return specs
  }

  async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`))
      return index < 0 ? LONGEST.length : index
    }
    return specs.toSorted((one, other) => rank(one) - rank(other))
  }
}
