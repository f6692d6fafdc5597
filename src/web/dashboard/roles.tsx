import { links } from '../../core/pagelinks.js'
import { type Permission } from '../../core/permissions.js'
import * as service from '../../service/roles.js'
import * as people from '../../service/userlists.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type Fields, type View } from '../kit/page.js'
import { Confirm } from '../parts/confirm.js'
import { Check, Field, Form, Submit, Summary } from '../parts/form.js'
import { Pager } from '../parts/pager.js'
import { Table } from '../parts/table.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'
import { PermissionFields } from './permissions.js'
import { RoleChanges } from './rolechanges.js'

const HOME = '/dashboard/settings/roles'

/** All roles, with how many people have each. */
export const roles = page({
  cache: 'actor',
  section: 'roles',
  load: (view) => view.call(service.list, { page: pageNumber(view), limit: 50 }),
  title: ({ t }) => t('nav.roles'),
  show(view, { roles: rows, total_count: total, total_pages: pages }) {
    const { t, href } = view
    return (
      <>
        <Top view={view} title={t('nav.roles')} count={t('role.count', { count: total })}>
          {view.may(service.create) ? (
            <a class="button primary" href={href(`${HOME}/new`)} data-key="a">
              {t('role.new')}
            </a>
          ) : null}
        </Top>
        <Table
          view={view}
          label={t('nav.roles')}
          rows={rows}
          columns={[
            {
              label: t('field.name'),
              kind: 'title',
              cell: ({ id, name, isSystem }) => (
                <>
                  <a href={href(links.role(id))}>
                    <bdi data-foreign={isSystem ? true : undefined}>{name}</bdi>
                  </a>{' '}
                  {isSystem ? <span class="mark">{t('role.system')}</span> : null}
                </>
              ),
            },
            {
              label: t('role.description'),
              cell: ({ description, isSystem }) => (isSystem ? t('role.everyone') : (description ?? '')),
            },
            { label: t('role.people'), kind: 'number', cell: (role) => <PeopleOf view={view} role={role} /> },
            { label: t('role.totp'), cell: ({ require_totp: isNeeded }) => (isNeeded ? t('role.needed') : '') },
          ]}
        />
        {view.may(service.create) ? <Recipes view={view} /> : null}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

/** How many have the role. Whoever may read people gets to them. */
const PeopleOf = ({ view, role }: { view: View; role: { id: string; user_count: number } }) =>
  view.may(people.list) && role.user_count > 0 ? (
    <a href={view.href(withQuery('/dashboard/users', { role: role.id }))}>{view.words.number(role.user_count)}</a>
  ) : (
    view.words.number(role.user_count)
  )

/** What a new role may begin with. A permission that its author lacks is left out. */
const RECIPES = {
  moderator: ['dashboard:read', 'board:read', 'post:update', 'post:destroy', 'comment:view_internal', 'comment:create_internal', 'comment:update:any', 'comment:delete:any', 'user:block'], // prettier-ignore
  support: ['dashboard:read', 'board:read', 'vote:assign', 'vote:unassign', 'comment:view_internal', 'comment:create_internal', 'user:read'], // prettier-ignore
  editor: ['dashboard:read', 'board:read', 'board:create', 'board:update', 'roadmap:read', 'roadmap:create', 'roadmap:update', 'post:update'], // prettier-ignore
} as const satisfies Record<string, readonly Permission[]>

const RECIPE_NAMES = Object.keys(RECIPES) as (keyof typeof RECIPES)[]

const Recipes = ({ view }: { view: View }) => (
  <section class="recipes">
    <h2>{view.t('role.recipes')}</h2>
    <ul>
      {RECIPE_NAMES.map((recipe) => (
        <li>
          <a href={view.href(`${HOME}/new?recipe=${recipe}`)}>{view.t(`role.recipe.${recipe}`)}</a>{' '}
          <span class="soft">{view.t(`role.recipe.${recipe}For`)}</span>
        </li>
      ))}
    </ul>
  </section>
)

interface RoleFormProps {
  view: View
  of: typeof service.create | typeof service.update
  to: string
  title: string
  submit: string
  role?: Shown | undefined
  version?: string
  recipe?: keyof typeof RECIPES | undefined
}

type Shown = Awaited<ReturnType<typeof roleAt>>

const shownAt = (view: View) => view.call(service.show, { id: view.params.role })
const roleAt = async (view: View) => (await shownAt(view)).role

/** A role that the reader may not change is shown as it is. */
function RoleForm({ view, of, to, title, submit, role, version, recipe }: RoleFormProps) {
  const { t } = view
  const isSent = view.form.values.name !== undefined
  const held = new Set<string>(
    isSent
      ? listed(view.form.values.permissions)
      : (role?.permissions ?? (recipe ? RECIPES[recipe].filter((each) => view.can(each)) : [])),
  )
  const isFixed = role !== undefined && !role.may.includes('update')
  return (
    <>
      <Top view={view} title={title} back={{ to: HOME, text: t('nav.roles') }} />
      {role && view.may(people.list) ? (
        <p>
          <a href={view.href(withQuery('/dashboard/users', { role: role.id }))}>
            {t('role.have', { count: role.user_count })}
          </a>
        </p>
      ) : null}
      <Summary view={view} />
      {isFixed ? (
        <>
          <p class="note">{t(role.isSystem ? 'role.fixed' : 'role.notYours')}</p>
          {role.isSystem ? <p>{t('role.everyone')}</p> : role.description ? <p>{role.description}</p> : null}
          <PermissionFields view={view} held={held} isFixed />
        </>
      ) : (
        <Form view={view} to={to}>
          {role ? <Version view={view} version={version} fresh={to} /> : null}
          {view.form.values.preview === undefined ? null : (
            <RoleChanges
              view={view}
              before={new Set(role?.permissions)}
              after={held}
              people={role?.user_count ?? 0}
              needsTotp={view.form.values.require_totp === 'true' && !role?.require_totp}
            />
          )}
          <div class="settings-form">
            <Field
              view={view}
              of={of}
              name="name"
              label={t('field.name')}
              value={role?.name ?? (recipe && t(`role.recipe.${recipe}`))}
              required
              autofocus={!role}
            />
            <Field
              view={view}
              of={of}
              name="description"
              label={t('role.description')}
              hint={t('role.descriptionHint')}
              value={role?.description ?? (recipe && t(`role.recipe.${recipe}For`))}
            />
            <Check
              view={view}
              name="require_totp"
              label={t('role.requireTotp')}
              checked={role?.require_totp ?? false}
              isSent={isSent}
            />
            <p class="hint">{t('role.requireTotpHint')}</p>
          </div>
          <PermissionFields view={view} held={held} stored={new Set(role?.permissions)} />
          <div class="verbs">
            <Submit>{submit}</Submit>
            <button type="submit" class="button plain" name="preview" value="yes">
              {t('role.preview')}
            </button>
            {role?.may.includes('delete') ? (
              <a class="danger" href={view.href(`${links.role(role.id)}/delete`)}>
                {t('role.delete')}
              </a>
            ) : null}
          </div>
        </Form>
      )}
    </>
  )
}

export const newRole = page({
  cache: 'never',
  section: 'roles',
  of: service.create,
  load: async ({ query }) => RECIPE_NAMES.find((each) => each === query.recipe),
  title: ({ t }) => t('role.new'),
  show: (view, recipe) => <NewRole view={view} recipe={recipe} />,
})

const NewRole = ({ view, recipe }: Pick<RoleFormProps, 'view' | 'recipe'>) =>
  <RoleForm view={view} of={service.create} to={`${HOME}/new`} title={view.t('role.new')} submit={view.t('role.create')} recipe={recipe} /> // prettier-ignore

const ChangedRole = ({ view, shown, version }: { view: View; shown: Shown; version: string }) =>
  <RoleForm view={view} of={service.update} to={links.role(shown.id)} title={shown.name} submit={view.t('form.save')} role={shown} version={version} /> // prettier-ignore

/** Whether the form asks what it would change, and saves nothing. */
const isPreview = ({ viewer }: View, { preview }: Fields): boolean => viewer !== null && preview !== undefined

export const role = page({
  cache: 'actor',
  section: 'roles',
  load: shownAt,
  title: (_view, { role: { name } }) => name,
  show: (view, { role: shown, version }) => <ChangedRole view={view} shown={shown} version={version} />,
})

export const deleteRole = page({
  cache: 'actor',
  section: 'roles',
  async load(view) {
    const shown = await roleAt(view)
    if (!shown.may.includes('delete') && !view.form.error) throw new Redirect(links.role(shown.id))
    return shown
  },
  title: ({ t }, { name }) => t('role.deleteTitle', { name }),
  show: (view, shown) => (
    <Confirm
      view={view}
      to={`${links.role(shown.id)}/delete`}
      back={links.role(shown.id)}
      title={view.t('role.deleteTitle', { name: shown.name })}
      action={view.t('role.delete')}
    >
      {view.t('role.deleteLoss', { count: shown.user_count })}
    </Confirm>
  ),
})

const given = (form: Fields) => ({
  name: form.name ?? '',
  description: form.description ?? '',
  require_totp: form.require_totp === 'true',
  permissions: listed(form.permissions),
})

export const create = action({
  operation: service.create,
  many: ['permissions'],
  page: async () => newRole,
  before: async (view, form) =>
    isPreview(view, form)
      ? { title: view.t('role.new'), section: 'roles', show: <NewRole view={view} recipe={undefined} /> }
      : undefined,
  input: (_view, form) => given(form),
  done: (_view, { role: { id } }) => ({ to: links.role(id), flash: 'roleCreated' }),
})

export const update = action({
  operation: service.update,
  many: ['permissions'],
  page: async () => role,
  async before(view, form) {
    if (!isPreview(view, form)) return undefined
    const { role: shown, version } = await shownAt(view)
    return { title: shown.name, section: 'roles', show: <ChangedRole view={view} shown={shown} version={version} /> }
  },
  input: ({ params }, form) => ({ id: params.role, ...given(form) }),
  done: ({ params }) => ({ to: links.role(params.role ?? ''), flash: 'saved' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteRole,
  input: ({ params }) => ({ id: params.role }),
  done: () => ({ to: HOME, flash: 'roleDeleted' }),
})
