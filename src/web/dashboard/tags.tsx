import { links } from '../../core/pagelinks.js'
import * as service from '../../service/tags.js'
import { pageNumber } from '../kit/addresses.js'
import { action, page, type View } from '../kit/page.js'
import { TagSwatch } from '../parts/chip.js'
import { Confirm } from '../parts/confirm.js'
import { Empty, Unmatched } from '../parts/empty.js'
import { Choice, Form, Submit, Summary } from '../parts/form.js'
import { assertTidy, EVERY, filterOf, tagsOffered } from '../parts/lists.js'
import { Pager } from '../parts/pager.js'
import { PlaceFields } from '../parts/placefields.js'
import { SearchForm } from '../parts/search.js'
import { Table } from '../parts/table.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const HOME = '/dashboard/tags'

/** The start of the address of its posts. */
const POSTS = '/search?q=tag:'

export const tags = page({
  cache: 'actor',
  section: 'tags',
  load(view) {
    assertTidy(view)
    return view.call(service.list, {
      limit: 50,
      page: pageNumber(view),
      visibility: EVERY,
      ...(view.query.q && { query: filterOf(view) }),
    })
  },
  title: ({ t }) => t('tag.label'),
  show(view, { tags: rows, total_count: total, total_pages: pages }) {
    const { t, href, query } = view
    return (
      <>
        <Top view={view} title={t('tag.label')} count={t('tag.count', { count: total })}>
          {view.may(service.create) ? (
            <a class="button primary" href={href(`${HOME}/new`)} data-key="a">
              {t('tag.new')}
            </a>
          ) : null}
        </Top>
        {pages > 1 || query.q ? <SearchForm view={view} to={HOME} label={t('tag.find')} text={query.q} /> : null}
        {rows.length > 0 ? (
          <Table
            view={view}
            label={t('tag.label')}
            rows={rows}
            columns={[
              {
                label: t('field.name'),
                kind: 'title',
                cell: (tag) => (
                  <>
                    <TagSwatch color={tag.color} />{' '}
                    <a
                      href={href(
                        tag.may.includes('update') ? links.tagForm(tag.url, 'settings') : links.teamTag(tag.url),
                      )}
                    >
                      <bdi>{tag.name}</bdi>
                    </a>
                  </>
                ),
              },
              { label: t('nav.posts'), kind: 'number', cell: (tag) => <PostsOf view={view} tag={tag} /> },
              { label: t('place.shown'), cell: ({ display }) => t(display ? 'place.public' : 'mark.private') },
            ]}
          />
        ) : query.q ? (
          <Unmatched view={view} all={HOME} />
        ) : (
          <Empty title={t('tag.first')}>
            <p>{t('tag.firstNext')}</p>
          </Empty>
        )}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

const PostsOf = ({ view, tag }: { view: View; tag: service.Tag }) => (
  <a href={view.href(links.teamTag(tag.url))}>{view.words.number(tag.post_count ?? 0) + (tag.is_capped ? '+' : '')}</a>
)

export const newTag = page({
  cache: 'never',
  section: 'tags',
  of: service.create,
  load: async () => ({}),
  title: ({ t }) => t('tag.new'),
  show: (view) => (
    <>
      <Top view={view} title={view.t('tag.new')} back={{ to: HOME, text: view.t('tag.label') }} />
      <Summary view={view} />
      <Form view={view} to={`${HOME}/new`} class="settings-form">
        <PlaceFields view={view} of={service.create} place={undefined} path={POSTS} />
        <Submit>{view.t('tag.create')}</Submit>
      </Form>
    </>
  ),
})

const shownAt = (view: View) => view.call(service.show, { url: view.params.url })

export const tagSettings = page({
  cache: 'actor',
  section: 'tags',
  of: service.update,
  load: shownAt,
  title: (_view, { tag: { name } }) => name,
  show: (view, { tag, version }) => (
    <>
      <Top view={view} title={tag.name} back={{ to: HOME, text: view.t('tag.label') }} />
      <Summary view={view} />
      {/* Somebody may change the url meanwhile */}
      <Form view={view} to={links.tagForm(tag.tagId, 'settings')} class="settings-form">
        <Version view={view} version={version} fresh={links.tagForm(tag.url, 'settings')} />
        <PlaceFields view={view} of={service.update} place={tag} path={POSTS} />
        <div class="buttons">
          <Submit>{view.t('form.save')}</Submit>
          {tag.may.includes('merge') ? (
            <a href={view.href(links.tagForm(tag.url, 'merge'))}>{view.t('tag.merge')}</a>
          ) : null}
          {tag.may.includes('delete') ? (
            <a class="danger" href={view.href(links.tagForm(tag.url, 'delete'))}>
              {view.t('tag.delete')}
            </a>
          ) : null}
        </div>
      </Form>
    </>
  ),
})

/** What happens to its posts, in a text for a number of them and one for more than are counted. */
const lossOf = ({ t }: View, tag: service.Tag, what: 'delete' | 'merge'): string =>
  t(tag.is_capped ? `tag.${what}Many` : `tag.${what}Loss`, { count: tag.post_count ?? 0 })

export const mergeTag = page({
  cache: 'actor',
  section: 'tags',
  of: service.merge,
  async load(view) {
    const { tag } = await shownAt(view)
    const { rows } = await tagsOffered(view)
    // The posts of a private tag would be told by a public one
    return { tag, others: rows.filter(({ tagId, display }) => tagId !== tag.tagId && (tag.display || !display)) }
  },
  title: ({ t }, { tag: { name } }) => t('tag.mergeTitle', { name }),
  show(view, { tag, others }) {
    const { t, href } = view
    const back = (
      <a class="button plain" href={href(links.tagForm(tag.url, 'settings'))}>
        {t('form.cancel')}
      </a>
    )
    return (
      <div class="narrow">
        <h1>{t('tag.mergeTitle', { name: tag.name })}</h1>
        <Summary view={view} text={view.form.error?.code === 'MERGE_REFUSED' ? t('tag.mergePrivate') : undefined} />
        {tag.display ? null : <p class="note">{t('tag.mergePrivate')}</p>}
        {others.length === 0 ? (
          <>
            <p>{t('tag.mergeNone')}</p>
            <p>{back}</p>
          </>
        ) : (
          <>
            <p>{lossOf(view, tag, 'merge')}</p>
            <Form view={view} to={links.tagForm(tag.url, 'merge')}>
              <Choice
                view={view}
                name="into"
                label={t('tag.mergeInto')}
                options={[
                  { value: '', text: t('tag.choose') },
                  ...others.map(({ url, name }) => ({ value: url, text: name })),
                ]}
              />
              <div class="buttons">
                <Submit kind="danger">{t('action.merge')}</Submit>
                {back}
              </div>
            </Form>
          </>
        )}
      </div>
    )
  },
})

export const deleteTag = page({
  cache: 'actor',
  section: 'tags',
  of: service.remove,
  load: shownAt,
  title: ({ t }, { tag: { name } }) => t('tag.deleteTitle', { name }),
  show: (view, { tag }) => (
    <Confirm
      view={view}
      to={links.tagForm(tag.url, 'delete')}
      back={links.tagForm(tag.url, 'settings')}
      title={view.t('tag.deleteTitle', { name: tag.name })}
      action={view.t('tag.delete')}
    >
      {lossOf(view, tag, 'delete')}
    </Confirm>
  ),
})

const fieldsOf = ({ name, url, color, display }: Partial<Record<string, string>>) => ({
  name,
  ...(url && { url }),
  ...(color && { color: color.replace(/^#/, '') }),
  display: display === 'true',
})

export const create = action({
  operation: service.create,
  page: async () => newTag,
  input: (_view, form) => fieldsOf(form),
  done: () => ({ to: HOME, flash: 'tagCreated' }),
})

export const update = action({
  operation: service.update,
  page: async () => tagSettings,
  input: ({ params }, form) => ({ tagId: params.url, partial: true, ...fieldsOf(form) }),
  done: () => ({ to: HOME, flash: 'saved' }),
})

export const merge = action({
  operation: service.merge,
  page: async () => mergeTag,
  input: ({ params }, { into }) => ({ ids: [params.url], into }),
  done: () => ({ to: HOME, flash: 'tagMerged' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteTag,
  input: ({ params }) => ({ tagId: params.url }),
  done: () => ({ to: HOME, flash: 'deleted' }),
})
