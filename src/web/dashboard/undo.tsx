import * as undos from '../../service/undos.js'
import { within } from '../kit/addresses.js'
import { action } from '../kit/page.js'

export const undo = action({
  operation: undos.apply,
  input: ({ params }) => ({ undo_id: params.undo }),
  done(_view, { outcomes, changed, failed }, form) {
    const to = within(form.to) ?? '/dashboard'
    if (failed === 0 && outcomes.some(({ author }) => author === 'still-blocked'))
      return { to, flash: 'undoneStillBlocked' }
    return { to, flash: failed > 0 ? { flash: 'undoneInPart', count: failed } : { flash: 'undone', count: changed } }
  },
  settled: {
    UNDO_NOT_FOUND: (_view, form) => ({ to: within(form.to) ?? '/dashboard', flash: 'undoneNot' }),
  },
})
