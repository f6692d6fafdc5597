import type { TestSequencer, TestSpecification } from 'vitest/node'

/** The files that take longest, longest first, so that none of them begins as the last. */
const LONGEST = [
  'faults/interrupted',
  'cli/maintenance',
  'cli/backup',
  'service/scenarios',
  'cli/newmachine',
  'web/attacks',
  'cli/serve',
  'service/posts',
  'faults/kill',
  'faults/postgres',
  'web/journeys',
  'web/pseudo',
  'cli/nouns',
  'faults/mail',
  'faults/sqlite',
  'cli/visitors',
  'cli/servers',
  'db/plans',
  'web/return',
  'cli/mailtest',
  'cli/workers',
  'web/accessibility',
  'cli/setup',
  'cli/boards',
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
