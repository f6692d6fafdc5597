import type { TestContext } from 'vitest'

/** Whether `npm run test:faults` runs, and not `npm test`. */
const isFull = process.env.FEEDBACKCTL_FAULTS === 'full'

/** How often to repeat a fault: in `npm test`, and in `npm run test:faults`. */
export const amount = (short: number, full: number): number => (isFull ? full : short)

declare module 'vitest' {
  interface TaskMeta {
    figures?: string
  }
}

/** What a test counted, for the table at the end of `npm run test:faults`. */
export const figures = ({ task }: Pick<TestContext, 'task'>, text: string): void => void (task.meta.figures = text)
