import { links } from '../../core/pagelinks.js'
import { STATUS_KINDS } from '../../core/statuskinds.js'
import * as posts from '../../service/postlists.js'
import * as service from '../../service/roadmaps.js'
import { action, page, type View } from '../kit/page.js'
import { StatusSwatch } from '../parts/chip.js'
import { Confirm } from '../parts/confirm.js'
import { Empty } from '../parts/empty.js'
import { Choice, Form, Submit, Summary } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { EVERY } from '../parts/lists.js'
import { PlaceFields } from '../parts/placefields.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const HOME = '/dashboard/roadmaps'

export const roadmaps = page({
  cache: 'actor',
  section: 'roadmaps',
  load: (view) => view.call(service.list, { limit: 100, page: 1, visibility: EVERY }),
  title: ({ t }) => t('nav.roadmaps'),
  show(view, { roadmaps: rows, total_count: total }) {
    const { t, href } = view
    return (
      <>
        <Top view={view} title={t('nav.roadmaps')} count={t('roadmap.count', { count: total })}>
          {view.may(service.create) ? (
            <a class="button primary" href={href(`${HOME}/new`)} data-key="a">
              {t('roadmap.new')}
            </a>
          ) : null}
        </Top>
        <Summary view={view} />
        {rows.length === 0 ? (
          <Empty title={t('roadmap.first')}>
            <p>{t('roadmap.firstNext')}</p>
            {view.may(service.createUsual) ? (
              <Form view={view} to={`${HOME}/usual`}>
                <Submit>{t('roadmap.usual')}</Submit>
              </Form>
            ) : null}
          </Empty>
        ) : (
          <>
            <p class="soft">{t('roadmap.order')}</p>
            <FormsScript view={view} />
            <ol class="stages">
              {rows.map((roadmap, index) => (
                <Stage view={view} roadmap={roadmap} position={index + 1} last={total} />
              ))}
            </ol>
          </>
        )}
      </>
    )
  },
})

/** A row that a script lets drag, and buttons that do the same. */
function Stage({ view, roadmap, position, last }: StageProps) {
  const { t, href } = view
  const isMovable = roadmap.may.includes('update')
  const move = (to: number, key: 'roadmap.up' | 'roadmap.down', sign: string) => (
    <button
      type="submit"
      class="button plain icon-only"
      name="position"
      value={to}
      disabled={to < 1 || to > last}
      aria-label={t(key, { name: roadmap.name })}
    >
      {sign}
    </button>
  )
  return (
    <li data-position={isMovable ? position : undefined}>
      <span class="name">
        <StatusSwatch {...roadmap} />
        <a href={href(isMovable ? links.roadmapForm(roadmap.url, 'settings') : links.roadmap(roadmap.url))}>
          <bdi>{roadmap.name}</bdi>
        </a>
      </span>
      <span class="soft">{view.words.labelled(t('roadmap.kind'), t(`kind.${roadmap.kind}`))}</span>
      {roadmap.display ? null : <span class="mark">{t('mark.private')}</span>}
      {isMovable ? (
        <Form view={view} to={links.roadmapForm(roadmap.url, 'position')} class="buttons">
          {move(position - 1, 'roadmap.up', '↑')}
          {move(position + 1, 'roadmap.down', '↓')}
        </Form>
      ) : null}
    </li>
  )
}

interface StageProps {
  view: View
  roadmap: service.Roadmap
  position: number
  last: number
}

export const newRoadmap = page({
  cache: 'never',
  section: 'roadmaps',
  of: service.create,
  load: async () => ({}),
  title: ({ t }) => t('roadmap.new'),
  show: (view) => (
    <>
      <Top view={view} title={view.t('roadmap.new')} back={{ to: HOME, text: view.t('nav.roadmaps') }} />
      <Summary view={view} />
      <Form view={view} to={`${HOME}/new`} class="settings-form">
        <PlaceFields view={view} of={service.create} place={undefined} path="/roadmaps/" />
        <KindField view={view} />
        <Submit>{view.t('roadmap.create')}</Submit>
      </Form>
    </>
  ),
})

/** A new roadmap may leave it to its name. */
const KindField = ({ view, value }: { view: View; value?: service.Roadmap['kind'] }) => (
  <Choice
    view={view}
    name="kind"
    label={view.t('roadmap.kind')}
    hint={view.t('roadmap.kindHint')}
    value={value}
    options={[
      ...(value === undefined ? [{ value: '', text: view.t('roadmap.kindByName') }] : []),
      ...STATUS_KINDS.map((kind) => ({ value: kind, text: view.t(`kind.${kind}`) })),
    ]}
  />
)

const shownAt = (view: View) => view.call(service.show, { url: view.params.url })
const roadmapAt = async (view: View) => (await shownAt(view)).roadmap

export const roadmapSettings = page({
  cache: 'actor',
  section: 'roadmaps',
  of: service.update,
  load: shownAt,
  title: (_view, { roadmap: { name } }) => name,
  show: (view, { roadmap, version }) => (
    <>
      <Top view={view} title={roadmap.name} back={{ to: HOME, text: view.t('nav.roadmaps') }} />
      <Summary view={view} />
      {/* Somebody may change the url meanwhile */}
      <Form view={view} to={links.roadmapForm(roadmap.id, 'settings')} class="settings-form">
        <Version view={view} version={version} fresh={links.roadmapForm(roadmap.url, 'settings')} />
        <PlaceFields view={view} of={service.update} place={roadmap} path="/roadmaps/" />
        <KindField view={view} value={roadmap.kind} />
        <div class="buttons">
          <Submit>{view.t('form.save')}</Submit>
          {roadmap.may.includes('delete') ? (
            <a class="danger" href={view.href(links.roadmapForm(roadmap.url, 'delete'))}>
              {view.t('roadmap.delete')}
            </a>
          ) : null}
        </div>
      </Form>
    </>
  ),
})

export const deleteRoadmap = page({
  cache: 'actor',
  section: 'roadmaps',
  of: service.remove,
  async load(view) {
    const roadmap = await roadmapAt(view)
    const { total_count: count } = await view.call(posts.list, { roadmapId: roadmap.id, limit: 1, votes: false })
    return { roadmap, count }
  },
  title: ({ t }, { roadmap: { name } }) => t('roadmap.deleteTitle', { name }),
  show: (view, { roadmap, count }) => (
    <Confirm
      view={view}
      to={links.roadmapForm(roadmap.url, 'delete')}
      back={links.roadmapForm(roadmap.url, 'settings')}
      title={view.t('roadmap.deleteTitle', { name: roadmap.name })}
      action={view.t('roadmap.delete')}
    >
      {view.t('roadmap.deleteLoss', { count })}
    </Confirm>
  ),
})

const fieldsOf = ({ name, url, color, display, kind }: Partial<Record<string, string>>) => ({
  name,
  ...(url && { url }),
  ...(color && { color: color.replace(/^#/, '') }),
  display: display === 'true',
  ...(kind && { kind: kind as service.Roadmap['kind'] }),
})

export const create = action({
  operation: service.create,
  page: async () => newRoadmap,
  input: (_view, form) => fieldsOf(form),
  done: () => ({ to: HOME, flash: 'roadmapCreated' }),
})

export const createUsual = action({
  operation: service.createUsual,
  page: async () => roadmaps,
  input: () => ({}),
  done: () => ({ to: HOME, flash: 'roadmapCreated' }),
})

export const update = action({
  operation: service.update,
  page: async () => roadmapSettings,
  input: ({ params }, form) => ({ id: params.url, partial: true, ...fieldsOf(form) }),
  done: () => ({ to: HOME, flash: 'saved' }),
})

export const move = action({
  operation: service.move,
  page: async () => roadmaps,
  input: ({ params }, { position }) => ({ roadmap: params.url, position: Number(position) }),
  done: () => ({ to: HOME, flash: 'saved' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteRoadmap,
  input: ({ params }) => ({ id: params.url }),
  done: () => ({ to: HOME, flash: 'deleted' }),
})
