import { localCall } from '../app/call.js'
import { counted } from '../core/text.js'
import * as operations from '../service/audit.js'
import { seen, type Check, type Finding } from './check.js'

export const audit: Check = {
  needs: 'data',
  async look({ app }) {
    const call = localCall(await app())
    const findings: Finding[] = []
    let checked = 0
    let unsealed = 0
    for (let after: number | null = 0; after !== null;) {
      const answer: Awaited<ReturnType<typeof operations.verify.run>> = await call(operations.verify, { after })
      checked += answer.checked
      unsealed = answer.unsealed
      for (const { after: from, until, problem } of answer.findings)
        findings.push({
          severity: 'error',
          evidence: `${from + 1 === until ? `Event ${until}` : `Events ${from + 1} to ${until}`}: ${problem}`,
          fix: 'Run "feedbackctl audit verify", and compare with a backup: "feedbackctl backup list".',
        })
      after = answer.next
    }
    const rest =
      unsealed === 0
        ? ''
        : ` Not sealed yet: ${counted(unsealed, 'event')} at most. The next change or "feedbackctl serve" seals them.`
    if (checked === 0) return seen(findings, `No event is sealed yet.${rest}`)
    return seen(findings, `${counted(checked, 'event')} checked. None was changed or removed.${rest}`)
  },
}
