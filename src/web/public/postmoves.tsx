import { links } from '../../core/pagelinks.js'
import { errorIn } from '../../service/lib/bulk.js'
import { move } from '../../service/postmoves.js'
import { cameFrom, within } from '../kit/addresses.js'
import { action, page } from '../kit/page.js'
import { Hidden } from '../parts/form.js'
import { roadmapsWith } from '../parts/lists.js'
import { StatusForm } from '../parts/statusmenu.js'
import { post, postAt } from './posts.js'

/** The form that moves a card of the roadmap. With JavaScript, the roadmap shows it in a dialog. */
export const movePost = page({
  cache: 'actor',
  signedIn: true,
  of: move,
  async load(view) {
    const shown = await postAt(view)
    return { post: shown, stages: (await roadmapsWith(view, shown.roadmap?.url)).rows }
  },
  title: ({ t }, { post: { title } }) => t('roadmap.moveTitle', { title }),
  show(view, { post: { slug, title, roadmap }, stages }) {
    const { t } = view
    const to = cameFrom(view) ?? links.post(slug)
    return (
      <div class="narrow">
        <div class="mover">
          <h1 id="mover">{t('roadmap.moveTitle', { title })}</h1>
          <p class="soft" hidden>
            {t('roadmap.moveKeys')}
          </p>
          <StatusForm view={view} to={`${links.post(slug)}/status`} stages={stages} chosen={roadmap ?? null} hasFocus>
            <Hidden name="to" value={to} />
          </StatusForm>
          <p>
            <a href={view.href(to)}>{t('form.cancel')}</a>
          </p>
        </div>
      </div>
    )
  },
})

export const setStatus = action({
  operation: move,
  page: async () => post,
  input: ({ params }, { roadmapId, quiet, ifRoadmapId }) => ({
    ids: [params.slug],
    roadmapId: roadmapId || null,
    ...(quiet && { quiet: quiet === 'true' }),
    ...(ifRoadmapId && { ifRoadmapId }),
  }),
  done({ params: { slug = '' } }, { outcomes: [{ error } = {}], undo }, form) {
    if (error) throw errorIn(error)
    return { to: within(form.to) ?? links.post(slug), flash: 'statusSet', undo: undo?.undo_id }
  },
})
