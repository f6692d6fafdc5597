import type { TObject } from 'typebox'
import { BOARD_SORTS, POSTING } from '../../core/boardrules.js'
import type { Board } from '../../service/boards.js'
import type { View } from '../kit/page.js'
import { Check, Choice, Field } from './form.js'
import { SORT_WORDS } from './lists.js'

/** What a board says and takes. */
export function BoardRules({ view, of, board }: { view: View; of: { input: TObject }; board: Board | undefined }) {
  const { t } = view
  const isSent = view.form.values.name !== undefined
  return (
    <>
      <Field
        view={view}
        of={of}
        name="description"
        label={t('board.description')}
        rows={2}
        value={board?.description}
      />
      <Field
        view={view}
        of={of}
        name="template"
        label={t('board.template')}
        hint={t('board.templateHint')}
        rows={4}
        value={board?.template}
      />
      <Choice
        view={view}
        name="posting"
        label={t('board.posting')}
        value={board?.posting ?? 'everyone'}
        options={POSTING.map((each) => ({ value: each, text: t(`posting.${each}`) }))}
      />
      <Choice
        view={view}
        name="sort"
        label={t('sort.label')}
        value={board?.sort ?? 'trending'}
        options={BOARD_SORTS.map((each) => ({ value: each, text: t(SORT_WORDS[each]) }))}
      />
      <Check
        view={view}
        name="hides_votes"
        label={t('board.hidesVotes')}
        checked={board?.hides_votes ?? false}
        isSent={isSent}
      />{' '}
      {/* prettier-ignore */}
      <Check view={view} name="archived" label={t('board.archived')} checked={board?.archived ?? false} isSent={isSent} />
    </>
  )
}
