import { audience } from '../../service/audience.js'
import * as service from '../../service/posts.js'
import { cameFrom } from '../kit/addresses.js'
import { links } from '../kit/links.js'
import { action, page, Redirect } from '../kit/page.js'
import { TellNobody, WillTell } from '../parts/audience.js'
import { Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { roadmapsWith } from '../parts/lists.js'
import { mentionsIn } from '../parts/mentions.js'
import { ImageField } from '../parts/imagefield.js'
import { Refused } from '../parts/refused.js'
import { RoadmapField } from '../parts/roadmapfield.js'
import { Stored, versionOf } from '../parts/stored.js'
import { postAt } from './posts.js'

/** Where a post stands from now on, and what the team says about it. */
export const postUpdate = page({
  cache: 'never',
  signedIn: true,
  forms: [service.update],
  async load(view) {
    const post = await postAt(view)
    if (!view.can('post:update')) throw new Redirect(links.post(post.slug))
    const chosen = view.form.values.roadmapId ?? post.roadmap?.url
    const stages = await roadmapsWith(view, chosen).catch(() => roadmapsWith(view))
    return { post, stages, ...(await view.call(audience, { post_id: post.postId })) }
  },
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
        <Field
          view={view}
          of={service.update}
          name="message"
          label={view.t('update.message')}
          hint={view.t('update.hint')}
          rows={6}
          data={mentionsIn(view, links.people(post.slug))}
        />
        <ImageField view={view} />
        <WillTell view={view} audience={told} />
        <TellNobody view={view} />
        <div class="buttons">
          <Submit>{view.t('update.send')}</Submit>
          <a class="button plain" href={view.href(cameFrom(view) ?? links.post(post.slug))}>
            {view.t('form.cancel')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

export const update = action({
  operation: service.update,
  images: 'message',
  page: async () => postUpdate,
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
