import { areTooMany, FIRST, type Choices } from './lists.js'
import { boardsScript } from '../kit/assets.js'
import type { Fields, View } from '../kit/page.js'
import { Choice } from './form.js'

interface Named {
  name: string
  url: string
}

/** How the name of a board begins that is looked for in the form of a post. */
export const boardText = ({ form, query }: View): string => (form.values.boardQuery ?? query.boardQuery ?? '').trim()

/** Whether a form asks for other boards to choose from: Enter in the field does, as its button. */
export const asksForBoards = ({ find, boardQuery = '', boardAsked = '' }: Fields): boolean =>
  find !== undefined || (boardQuery.trim() !== '' && boardQuery.trim() !== boardAsked)

/** The board of a post. Where a list cannot offer them all, a field finds them by name. */
export function BoardField({ view, boards, value }: { view: View; boards: Choices<Named>; value: string | undefined }) {
  const { t, form } = view
  if (boards.total === 0 && boards.rows.length === 0) return null
  const text = areTooMany(boards) ? boardText(view) : ''
  // One that is not offered, as an archived one, would leave the first chosen, and take a post from its board
  const given = [form.values.boardId, value].find((each) => each === '' || boards.rows.some(({ url }) => url === each)) ?? '' // prettier-ignore
  const found = boards.rows.filter(({ url }) => url !== given)
  const chosen = given === '' && text !== '' && found.length === 1 ? found[0]?.url : given
  const choice = (
    <Choice
      view={{ ...view, form: { ...form, values: { ...form.values, boardId: chosen } } }}
      name="boardId"
      label={t('filter.board')}
      hint={
        text === ''
          ? undefined
          : found.length === 0
            ? t('board.none', { text })
            : t(found.length < FIRST ? 'board.found' : 'board.manyFound', { text, count: found.length })
      }
      autofocus={asksForBoards(form.values)}
      options={[
        { value: '', text: t('post.noBoard') },
        ...boards.rows.map(({ name, url }) => ({ value: url, text: name })),
      ]}
    />
  )
  if (!areTooMany(boards)) return choice
  return (
    <>
      <div class="field">
        <label for="field-boardQuery">{t('board.find')}</label>
        <p class="hint" id="field-boardQuery-hint">
          {t('board.findHint', { count: boards.total })}
        </p>
        <div class="search-page">
          <input
            type="search"
            id="field-boardQuery"
            name="boardQuery"
            value={text}
            maxLength={200}
            aria-describedby="field-boardQuery-hint"
            data-boards={view.href(view.path)}
            data-script={view.href(boardsScript.path)}
          />
          <button type="submit" class="button plain" name="find" value="yes" formnovalidate>
            {t('board.findSend')}
          </button>
        </div>
      </div>
      <div id="boards" aria-live="polite">
        <input type="hidden" name="boardAsked" value={text} />
        {choice}
      </div>
    </>
  )
}
