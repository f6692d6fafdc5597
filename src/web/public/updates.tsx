import { invalidField } from '../../core/fields.js'
import { links } from '../../core/pagelinks.js'
import { audience } from '../../service/audience.js'
import * as service from '../../service/posts.js'
import { cameFrom } from '../kit/addresses.js'
import { action, page, Redirect, type Fields, type LiveView } from '../kit/page.js'
import { teamFrame } from '../kit/teamframe.js'
import { TellNobody, WillTell } from '../parts/audience.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { roadmapsWith } from '../parts/lists.js'
import { MarkdownField } from '../parts/markdownfield.js'
import { mentionsIn } from '../parts/mentions.js'
import { ImageField } from '../parts/imagefield.js'
import { admitPreview, Preview, PreviewButton, previewOf } from '../parts/preview.js'
import { Refused } from '../parts/refused.js'
import { RoadmapField } from '../parts/roadmapfield.js'
import { Stored, versionOf } from '../parts/stored.js'
import { postAt } from './posts.js'

/** Where a post stands from now on, and what the team says about it. */
export const postUpdate = page({
  cache: 'never',
  signedIn: true,
  frame: teamFrame,
  forms: [service.update],
  async load(view) {
    const post = await postAt(view)
    if (!view.can('post:update')) throw new Redirect(links.post(post.slug))
    const chosen = view.form.values.roadmapId ?? post.roadmap?.url
    const stages = await roadmapsWith(view, chosen).catch(() => roadmapsWith(view))
    // A number of followers would reveal hidden votes
    const told = post.voters.votes_hidden ? undefined : await view.call(audience, { post_id: post.postId })
    return { post, stages, audience: told?.audience }
  },
  texts: (view) => previewOf(view, 'message'),
  title: ({ t }, { post: { title } }) => t('update.of', { title }),
  show: (view, { post, stages, audience: told }) => (
    <div class="narrow">
      <h1>{view.t('update.of', { title: post.title })}</h1>
      <Summary view={view} />
      <Stored view={view} texts={[post.title, post.roadmap?.name ?? view.t('post.noRoadmap')]} />
      <Form view={view} to={`${links.post(post.slug)}/update`} takesFiles>
        <Refused view={view} of={service.update} />
        <Hidden name="to" value={cameFrom(view)} />
        <Hidden name="ifUpdatedAt" value={versionOf(view, view.form.values.ifUpdatedAt, post.updatedAt)} />
        <RoadmapField view={view} roadmaps={stages} value={post.roadmap?.url} />
        <MarkdownField
          view={view}
          of={service.update}
          name="message"
          label={view.t('update.message')}
          note={view.t('update.hint')}
          rows={6}
          data={mentionsIn(view, links.people(post.slug))}
        />
        <ImageField view={view} />
        <Preview view={view} text={previewOf(view, 'message')[0]} />
        {told ? <WillTell view={view} audience={told} /> : null}
        <TellNobody view={view} />
        <div class="buttons">
          <Submit>{view.t('update.send')}</Submit>
          <PreviewButton view={view} />
          <a class="button plain" href={view.href(cameFrom(view) ?? links.post(post.slug))}>
            {view.t('form.cancel')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

/** Whether the form sets a status other than the present one. */
async function assertSays(view: LiveView, { message = '', roadmapId }: Fields): Promise<void> {
  if (message.trim() !== '') return
  const post = await postAt(view)
  if (roadmapId !== undefined && roadmapId !== (post.roadmap?.url ?? '')) return
  const text = view.t('update.without')
  throw invalidField({ code: 'UPDATE_WITHOUT', message: text, field: 'message', rule: text, value: '' })
}

export const update = action({
  operation: service.update,
  images: 'message',
  page: async () => postUpdate,
  async before(view, form) {
    if (form.preview === undefined) {
      if (view.viewer) await assertSays(view, form)
      return undefined
    }
    const data = await postUpdate.load(view)
    await admitPreview(view, service.update, { id: view.params.slug, message: form.message ?? '' })
    return {
      title: postUpdate.title(view, data),
      page: postUpdate,
      texts: previewOf(view, 'message'),
      show: postUpdate.show(view, data),
    }
  },
  input: ({ params }, { roadmapId, message, quiet, ifUpdatedAt }) => ({
    id: params.slug,
    partial: true,
    ...(roadmapId !== undefined && { roadmapId: roadmapId || null }),
    ...(message && { message }),
    ...(quiet && { quiet: quiet === 'true' }),
    ...(ifUpdatedAt && { ifUpdatedAt }),
  }),
  done: (view) => ({ to: cameFrom(view) ?? links.post(view.params.slug ?? ''), flash: 'updated' }),
})
