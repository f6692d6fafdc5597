import { isolated } from '../kit/bidi.js'
import type { View } from '../kit/page.js'
import { Form, Hidden, Summary } from './form.js'

/** What forms have for no board and no status: an empty field is not sent. */
export const NOWHERE = 'none'

/** Whether a form was refused because somebody else has moved the post since its page was shown. */
export const isMoved = ({ form: { error, values } }: Pick<View, 'form'>): boolean =>
  error?.code === 'CONTENT_CHANGED' && (values.ifRoadmapId ?? values.ifBoardId) !== undefined

interface Place {
  id: string
  name: string
}

/** Where the post is now, and where this person wanted it: they replace what is there, or leave it. */
export function PlaceConflict({
  view,
  to,
  fresh,
  roadmap,
  board,
  choices,
}: {
  view: View
  /** Where the form is sent. */
  to: string
  /** The page as it is now. */
  fresh: string
  roadmap: Place | undefined
  board: Place | undefined
  /** The names of what could be chosen. */
  choices: readonly { name: string; url: string }[]
}) {
  const { t, form } = view
  if (!isMoved(view)) return null
  const isStatus = form.values.ifRoadmapId !== undefined
  const [name, condition, present, nothing] = isStatus
    ? (['roadmapId', 'ifRoadmapId', roadmap, t('post.noRoadmap')] as const)
    : (['boardId', 'ifBoardId', board, t('post.noBoard')] as const)
  const wanted = form.values[name] ?? ''
  const chosen = choices.find(({ url }) => url === wanted)?.name ?? (wanted || nothing)
  return (
    <>
      <Summary
        view={view}
        text={t('post.changedMeanwhile', { now: isolated(present?.name ?? nothing), chosen: isolated(chosen) })}
      />
      <Form view={view} to={to} class="buttons">
        <Hidden name={condition} value={present?.id ?? NOWHERE} />
        <Hidden name="quiet" value={form.values.quiet} />
        <Hidden name="to" value={form.values.to} />
        <button type="submit" class="button primary" name={name} value={wanted}>
          {t('form.saveAnyway')}
        </button>
        <a class="button plain" href={view.href(fresh)}>
          {t('form.takeTheirs')}
        </a>
      </Form>
    </>
  )
}
