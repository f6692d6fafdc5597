import { seen, type Check } from './check.js'

const FIX = 'feedbackctl config list --show-origin'

export const config: Check = {
  look: ({ config: settings }) =>
    seen(
      [
        ...settings.problems.map(({ message }) => ({ severity: 'error' as const, evidence: message, fix: FIX })),
        ...settings.ignored.map((evidence) => ({ severity: 'warning' as const, evidence, fix: FIX })),
      ],
      `All settings are valid. People open ${settings.get('site.url')}`,
    ),
}
