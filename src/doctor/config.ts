import { seen, type Check } from './check.js'

const FIX = 'feedbackctl help environment'

export const config: Check = {
  look: ({ config: settings }) =>
    seen(
      [
        ...settings.problems.map(({ message, place }) => ({
          severity: 'error' as const,
          evidence: message,
          fix: place === undefined ? FIX : `Correct ${place}.`,
        })),
        ...settings.ignored.map((evidence) => ({ severity: 'warning' as const, evidence, fix: FIX })),
      ],
      `All settings are valid. People open ${settings.get('site.url')}`,
    ),
}
