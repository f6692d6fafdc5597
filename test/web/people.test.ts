import { describe, expect, it } from 'vitest'
import { PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import * as invitations from '../../src/service/invitations.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { tag } from '../../src/service/usertags.js'
import { serveSite, visit } from '../support/browser.js'
import { engines, makeSite, OWNER, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const cookieOf = (token?: string) => ({ accept: 'text/html', ...(token !== undefined && { cookie: `feedbackctl=${token}` }) }) // prettier-ignore

async function open(engine: Engine, options: { mail?: boolean } = {}) {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {}, ...options })
  const owner = await site.owner()
  const get = async (path: string, token?: string) => {
    const { status, text, headers } = await site.http(`GET /${path}`, { headers: cookieOf(token) })
    return { status, text, to: headers.location as string | undefined }
  }
  const send = async (path: string, token: string, form: Record<string, string> | [string, string][] = {}) => {
    const { status, text, headers } = await site.http(`POST /${path}`, {
      headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    return { status, text, to: headers.location as string | undefined }
  }
  const person = async (name: string, permissions: Permission[] = []) => {
    const made = await site.member(permissions, { email: `${name}@example.org` })
    await site.call(users.update, { user: made.userId, username: name, name: name.toUpperCase() })
    return made
  }
  const staff = async (...permissions: Permission[]) => (await site.member(['dashboard:read', ...permissions])).token
  return { site, owner, get, send, person, staff }
}

/** The hidden fields of a page's forms. */
const hiddenOf = (text: string): [string, string][] =>
  Array.from(text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g), ([, name = '', value = '']) => [name, value]) // prettier-ignore

/** Where the forms and links of a page lead, but for its menu and footer. */
const offered = (text: string): string[] => {
  const main = /<main[^>]*>(.*)<\/main>/s.exec(text)?.[1] ?? ''
  return Array.from(main.matchAll(/(?:href|action)="(\/dashboard\/[^"?]*)/g), ([, path = '']) => path)
}
const named = (site: TestSite, username: string) => site.call(users.show, { user: username })

describe.each(engines)('the people of the dashboard on %s', (engine) => {
  it('are found by name, address, role, state and the time they were seen, and the filter stays in the address', async () => {
    const { site, owner, get, person, staff } = await open(engine)
    for (const name of ['eve', 'bob', 'li']) await person(name)
    const { role } = await site.call(roles.create, { name: 'Helpers' })
    await site.call(roles.assign, { role_id: role.id, user_id: 'bob' })
    await site.call(users.block, { user: 'li' })
    await site.call(tag, { user: 'eve', add: ['R&D "A"'] })
    const found = async (query: string, token = owner) =>
      offered((await get(`/dashboard/users?${query}`, token)).text)
        .filter((path) => /\/users\/(eve|bob|li)$/.test(path))
        .map((path) => path.replace(/.*\//, ''))
    expect(await found('sort=name')).toEqual(['bob', 'eve', 'li'])
    expect(await found('q=eve%40example')).toEqual(['eve'])
    expect(await found(`role=${role.id}`)).toEqual(['bob'])
    expect(await found('state=blocked')).toEqual(['li'])
    expect(await found('since=2099-01-01')).toEqual([])
    const nobody = (await get('/dashboard/users?since=2099-01-01', owner)).text
    expect([/<h2>(.*?)<\/h2>/.exec(nobody)?.[1], nobody.includes('Show all posts')]).toEqual(['Nothing matches this filter', false]) // prettier-ignore
    expect(await found('tag=r%26d+%22a%22')).toEqual(['eve'])
    const ofTag = '/dashboard/users?tag=R%26D%20%22A%22'
    for (const path of ['/dashboard/users', '/dashboard/users/eve'])
      expect((await get(path, owner)).text).toContain(`href="${ofTag}"`)
    const tagged = (await get(ofTag, owner)).text
    expect(tagged).toContain('name="tag" value="R&amp;D &quot;A&quot;"')
    const { text } = await get(`/dashboard/users?q=e&role=${role.id}&sort=posts`, owner)
    expect(text).toContain('name="q" value="e"')
    expect(text).toContain(`value="${role.id}" selected`)
    expect(text).toContain('<input type="hidden" name="sort" value="posts"/>')
    expect((await get('/dashboard/users?q=&role=&state=blocked', owner)).to).toBe('/dashboard/users?state=blocked')
    expect((await get('/dashboard/users', await staff('user:block'))).status, 'it needs user:read').toBe(404)
    expect(await found('q=eve', await staff('user:read'))).toEqual(['eve'])
  })

  it('are blocked together after a question, and a page names those who could not be', async () => {
    const { site, owner, get, send, person, staff } = await open(engine)
    const [eve, bob, strong] = [await person('eve'), await person('bob'), await person('strong', ['settings:update'])]
    const guard = await staff('user:read', 'user:block')
    const { text } = await get('/dashboard/users', guard)
    const boxes = Array.from(text.matchAll(/name="users" value="([^"]+)"/g), ([, id = '']) => id)
    expect(boxes.toSorted(), 'neither the owner, nor oneself, nor the stronger').toEqual([eve.userId, bob.userId].toSorted()) // prettier-ignore
    const both: [string, string][] = [['users', eve.userId], ['users', bob.userId], ['block', 'true'], ['to', '/dashboard/users?q=e']] // prettier-ignore
    expect(text, 'nothing is chosen beforehand').not.toMatch(/<select name="block"|name="block"[^>]*checked/)
    const question = await send('/dashboard/users', guard, both)
    expect(question.text).toContain('Block 2 people?')
    expect(question.text).toMatch(/EVE.*BOB.*cannot sign in until somebody unblocks them/s)
    expect((await named(site, 'eve')).user.isBlocked, 'a question changes nothing').toBe(false)
    const confirmed = hiddenOf(question.text)
    expect((await send('/dashboard/users', guard, confirmed)).to).toBe('/dashboard/users?q=e&done=peopleBlocked.2')
    expect((await named(site, 'eve')).user.isBlocked).toBe(true)
    const forged = await send('/dashboard/users', guard, [['users', strong.userId], ['users', eve.userId], ['block', 'true']]) // prettier-ignore
    expect(forged.text, 'nobody would be blocked').not.toContain('name="confirmed"')
    expect([forged.status, forged.text.includes('0 done, 1 failed')]).toEqual([200, true])
    expect((await named(site, 'strong')).user.isBlocked).toBe(false)
    expect((await send('/dashboard/users', owner, [['users', bob.userId], ['block', 'false']])).to).toBe('/dashboard/users?done=peopleUnblocked.1') // prettier-ignore
    const nobody = await send('/dashboard/users', guard, { block: 'true' })
    expect([nobody.status, nobody.text.includes('Choose at least one person.')]).toEqual([422, true])
    const reader = await staff('user:read')
    expect((await get('/dashboard/users', reader)).text).not.toContain('name="users"')
    expect((await send('/dashboard/users', reader, both)).status).toBe(403)
  })

  it('have a page each, which offers what may be done and nothing else', async () => {
    const { owner, get, person, staff, site } = await open(engine)
    await person('eve')
    await person('strong', ['settings:update'])
    const { role } = await site.call(roles.create, { name: 'Helpers' })
    await site.call(roles.assign, { role_id: role.id, user_id: 'eve' })
    expect((await get('/dashboard/users/eve', owner)).text).toContain('href="/dashboard/comments?author=eve"')
    const self = await person('self', ['dashboard:read', 'user:read', 'user:block'])
    const all = ['block', 'delete', 'notes', 'sign-out', 'tags']
    const verbs = async (username: string, token: string) =>
      [...new Set(offered((await get(`/dashboard/users/${username}`, token)).text).flatMap((path) => path.split(`/users/${username}/`)[1]?.replace(/[0-9a-f-]{36}/, 'ROLE') ?? []))].toSorted() // prettier-ignore
    expect(await verbs('eve', owner)).toEqual([...all, 'roles', 'roles/ROLE/remove'].toSorted())
    expect(await verbs('strong', owner)).toEqual([...all, 'roles', 'roles/ROLE/remove'].toSorted())
    expect(await verbs('eve', await staff('user:read'))).toEqual([])
    expect(await verbs('eve', self.token)).toEqual(['block', 'sign-out', 'tags'])
    expect(await verbs('strong', self.token), 'above their own rights').toEqual(['tags'])
    expect(await verbs('self', self.token), 'nobody blocks their own account').toEqual(['sign-out', 'tags'])
    expect(await verbs('strong', await staff('user:read', 'role:read', 'role:assign'))).toEqual(['roles'])
    expect(await verbs('eve', await staff('user:read', 'role:read', 'role:unassign'))).toEqual(['roles/ROLE/remove']) // prettier-ignore
    const { user } = (await site.http('GET /users/profile', { token: owner })).body
    expect(await verbs(user.username, owner), 'the owner cannot shut out or delete the owner').toEqual(['notes', 'roles', 'sign-out', 'tags']) // prettier-ignore
    expect((await get('/dashboard/users/nobody', owner)).status).toBe(404)
  })

  it('get and lose roles, notes, sessions and their second factor; the old user name leads to the new one', async () => {
    const { site, owner, get, send, person } = await open(engine)
    const eve = await person('eve')
    const { role } = await site.call(roles.create, { name: 'Helpers' })
    const at = '/dashboard/users/eve'
    expect((await send(`${at}/roles`, owner, { role_id: role.id })).to).toBe(`${at}?done=roleGiven`)
    expect((await named(site, 'eve')).user.roles.map(({ name }) => name)).toContain('Helpers')
    const asked = await get(`${at}/roles/${role.id}/remove`, owner)
    expect(asked.text).toMatch(/Remove the role Helpers\?.*EVE can no longer do what only this role permits/s)
    expect((await send(`${at}/roles/${role.id}/remove`, owner)).to).toBe(`${at}?done=roleTaken`)
    expect((await named(site, 'eve')).user.roles.map(({ name }) => name)).toEqual(['@everyone'])
    expect((await get(`${at}/roles/${role.id}/remove`, owner)).to, 'they have it no more').toBe(at)
    expect((await send(`${at}/notes`, owner, { notes: 'Knows the moon.' })).to).toBe(`${at}?done=saved`)
    expect((await get(at, owner)).text).toContain('Knows the moon.')
    expect((await get(`${at}/sign-out`, owner)).text).toContain('Sign EVE out?')
    expect((await send(`${at}/sign-out`, owner)).to).toBe(`${at}?done=signedOut`)
    expect((await site.http('GET /users/profile', { token: eve.token })).status).toBe(401)
    expect((await send(`${at}/reset-totp`, owner)).status, 'there is none').toBe(409)
    await site.db.insertInto('totp').values({ userId: eve.userId, secret: '', enabledAt: site.clock.now.toISOString() }).execute() // prettier-ignore
    expect(offered((await get(at, owner)).text)).toContain(`${at}/reset-totp`)
    expect((await send(`${at}/reset-totp`, owner)).to).toBe(`${at}?done=totpReset`)
    expect((await send(`${at}/block`, owner)).to).toBe(`${at}?done=blocked`)
    expect(offered((await get(at, owner)).text)).toContain(`${at}/unblock`)
    expect((await send(`${at}/unblock`, owner)).to).toBe(`${at}?done=unblocked`)
    expect((await get(`/dashboard/users/${eve.userId}`, owner)).to).toBe(at)
  })

  it('are merged into the account that they have here, if an import brought them without an address', async () => {
    const { site, owner, get, send, person, staff } = await open(engine)
    const [ann] = [await person('ann'), await person('eve')]
    const at = '/dashboard/users/ann'
    expect(offered((await get(at, owner)).text)).not.toContain(`${at}/merge`)
    expect((await send(`${at}/merge`, owner, { into: 'eve' })).text).toContain('somebody may be signing in')
    await site.db.updateTable('users').set({ email: 'x@imported.invalid', password: null }).where('userId', '=', ann.userId).execute() // prettier-ignore
    expect(offered((await get(at, owner)).text)).toContain(`${at}/merge`)
    const guard = await staff('user:read', 'user:block')
    expect(offered((await get(at, guard)).text)).not.toContain(`${at}/merge`)
    expect((await send(`${at}/merge`, guard, { into: 'eve' })).status).toBe(403)
    expect((await get(`${at}/merge`, owner)).text).toContain('Merge ANN into an account')
    const wrong = await send(`${at}/merge`, owner, { into: 'nobody' })
    expect([wrong.status, wrong.text.includes('value="nobody"')]).toEqual([404, true])
    expect((await send(`${at}/merge`, owner, { into: 'eve' })).to).toBe('/dashboard/users/eve?done=personMerged')
    const former = await get(at, owner)
    expect([former.status, former.to], 'the name that they had leads there').toEqual([303, '/dashboard/users/eve'])
  })

  it('have tags of the team on their page, which those change who may block', async () => {
    const { owner, get, person, send, staff } = await open(engine)
    await person('eve')
    const at = '/dashboard/users/eve'
    expect((await send(`${at}/tags`, owner, { add: 'VIP, beta <tester>' })).to).toBe(`${at}?done=tagsChanged`)
    const reader = (await get(at, await staff('user:read'))).text
    expect(reader).toMatch(/<h2>Tags<\/h2>.*<bdi>beta &lt;tester><\/bdi>.*<bdi>VIP<\/bdi>/s)
    expect(offered(reader)).not.toContain(`${at}/tags`)
    const guard = await staff('user:read', 'user:block')
    expect((await get(at, guard)).text).toMatch(/name="remove" value="VIP".*aria-label="Remove the tag [^"]*VIP/s)
    await send(`${at}/tags`, guard, { remove: 'VIP' })
    expect((await get(at, guard)).text).not.toContain('>VIP<')
    for (const [add, said] of [
      ['x'.repeat(51), 'A tag has 1 to 50 characters, and no comma.'],
      [' , ', 'Choose a tag to add or to remove.'],
    ] as const) {
      // prettier-ignore
      const { status, text } = await send(`${at}/tags`, guard, { add })
      expect([status, text.includes(said)]).toEqual([422, true])
    }
  })

  it('have their sessions, rights and second factor on their page, for those who may know', async () => {
    const { site, owner, get, person, staff } = await open(engine)
    const eve = await person('eve', ['post:update'])
    const strong = await person('strong', ['settings:update'])
    const { text } = await get('/dashboard/users/eve', owner)
    expect(text).toContain('href="/dashboard/posts?author=eve"')
    expect(text).toContain('No second factor')
    expect(text).toContain('Change any post, its board and its status')
    expect(text).toMatch(/<h2>Sessions<\/h2>.*Signed in/s)
    const { sessionId } = await site.db.selectFrom('sessions').select('sessionId').where('userId', '=', eve.userId).executeTakeFirstOrThrow() // prettier-ignore
    const guard = await staff('user:read', 'user:block', 'post:update')
    const listed = async (token: string, user: string) => site.http(`GET /users/${user}/sessions`, { token })
    expect((await listed(guard, eve.userId)).body).toEqual({
      sessions: [{ userAgent: expect.any(String), createdAt: expect.any(String), lastUsedAt: null }],
    })
    for (const page of [text, (await get('/dashboard/users/eve', guard)).text]) {
      expect(page).not.toContain(sessionId)
      expect(page).not.toContain(eve.token)
    }
    expect((await listed(guard, strong.userId)).status, 'they may not sign them out').toBe(403)
    expect((await get('/dashboard/users/strong', guard)).text).not.toContain('<h2>Sessions</h2>')
    expect((await listed(await staff('user:read'), eve.userId)).status).toBe(403)
    expect((await get('/dashboard/users/eve', await staff('user:read'))).text).not.toContain('<h2>Sessions</h2>')
    await site.db.deleteFrom('sessions').where('userId', '=', eve.userId).execute()
    expect((await get('/dashboard/users/eve', owner)).text).toContain('Nobody is signed in to this account.')
  })

  it('are deleted with the user name typed, after what is lost is said', async () => {
    const { site, owner, get, send, person } = await open(engine)
    const eve = await person('eve')
    const { post } = (await site.http('POST /posts', { token: eve.token, body: { title: 'Dark mode' } })).body
    await site.http('POST /votes', { token: eve.token, body: { postId: post.postId } })
    const at = '/dashboard/users/eve/delete'
    const { text } = await get(at, owner)
    expect(text).toContain('roles and 1 vote are deleted.')
    expect(text).toContain('Type the user name to confirm')
    const untyped = await send(at, owner, { posts: 'keep', typed: 'Eve' })
    expect([untyped.status, untyped.text.includes('Type the user name as it is shown.')]).toEqual([422, true])
    expect((await named(site, 'eve')).user.username).toBe('eve')
    expect((await send(at, owner, { posts: 'delete', typed: 'eve' })).to).toBe('/dashboard/users?done=personDeleted')
    expect((await site.http(`GET /users/eve`, { token: owner })).status).toBe(404)
    expect((await site.call(users.list, {})).total_count).toBe(1)
    const { user } = (await site.http('GET /users/profile', { token: owner })).body
    const own = await send(`/dashboard/users/${user.username}/delete`, owner, { posts: 'keep', typed: user.username })
    expect(own.status).toBe(403)
  })

  it('are invited with any of many roles and get any, and the list is filtered by any', async () => {
    const { site, owner, get } = await open(engine)
    for (let at = 0; at < 101; at++) await site.call(roles.create, { name: `Helpers ${at}` })
    const { token } = await site.member([])
    const { user } = (await site.http('GET /users/profile', { token })).body
    for (const path of ['/dashboard/invitations', '/dashboard/users', `/dashboard/users/${user.username}`])
      expect([path, (await get(path, owner)).text.split('>Helpers ').length - 1]).toEqual([path, 101])
  })

  it('are invited with a role that the inviter may give, and no other is offered', async () => {
    const { site, owner, get, send, staff } = await open(engine)
    const { role: helpers } = await site.call(roles.create, { name: 'Helpers', permissions: ['post:update'] })
    const { role: strong } = await site.call(roles.create, { name: 'Strong', permissions: ['settings:update'] })
    const choices = async (token: string) => {
      const { text } = await get('/dashboard/invitations', token)
      return [helpers, strong].filter(({ id }) => text.includes(`<option value="${id}"`)).map(({ name }) => name)
    }
    expect(await choices(owner)).toEqual(['Helpers', 'Strong'])
    const some = await staff('user:invite', 'role:read', 'role:assign', 'post:update')
    expect(await choices(some)).toEqual(['Helpers'])
    expect((await get('/dashboard/invitations', await staff('user:invite', 'role:read'))).text).not.toContain('name="role"') // prettier-ignore
    expect((await send('/dashboard/invitations', some, { emails: 'eve@example.org', role: helpers.id })).to).toContain('done=invited.1') // prettier-ignore
    expect((await named(site, 'eve@example.org')).user.roles.map(({ name }) => name)).toContain('Helpers')
    expect((await send('/dashboard/invitations', some, { emails: 'bob@example.org', role: strong.id })).status).toBe(403) // prettier-ignore
    expect((await send('/dashboard/invitations', owner, { emails: 'bob@example.org', role: '' })).to).toContain('done=invited.1') // prettier-ignore
  })

  it('accept by the mailed link: they choose a name, are signed in, and their address is confirmed', async () => {
    const { site, get, send } = await open(engine)
    await site.call(invitations.create, { emails: ['eve@example.org'] })
    const token = await site.mailedToken('eve@example.org')
    const page = await get(`/password-reset/confirm?token=${token}`)
    expect(page.text).toMatch(/Accept your invitation.*action="\/invitation\?token=.*name="name"/s)
    const short = await send('/invitation', '', { token, name: 'Eve', password: 'short' })
    expect([short.status, short.text.includes('value="Eve"'), short.text.includes('Accept and sign in')]).toEqual([422, true, true]) // prettier-ignore
    expect((await get(`/invitation?token=${token}`)).text, 'after a change of the language').toContain(
      'Accept and sign in',
    )
    const form = { token, name: 'Eve', password: 'a good password' }
    const { status, headers } = await site.http('POST //invitation', {
      headers: { ...cookieOf(), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    expect([status, headers.location]).toEqual([303, '/?done=accepted'])
    const [, session = ''] = /feedbackctl=([^;]+)/.exec(String(headers['set-cookie'])) ?? []
    expect((await get('/', session)).text).toContain('<bdi>Eve</bdi>')
    expect((await named(site, 'eve@example.org')).user).toMatchObject({ name: 'Eve', isVerified: true })
    const again = await send('/invitation', '', form)
    expect(again.text).toContain('This link no longer works')
    await site.http('POST /auth/password/reset', { body: { email: 'eve@example.org' } })
    const reset = await get(`/password-reset/confirm?token=${await site.mailedToken('eve@example.org')}`)
    const revoked = await send('/invitation', '', { ...form, token: await site.mailedToken('eve@example.org') })
    expect(revoked.to).toBe(`/password-reset/confirm?token=${await site.mailedToken('eve@example.org')}`)
    expect(reset.text, 'who has forgotten the password confirms nothing').toContain('action="/password-reset/confirm"')
  })

  it('are invited fifty at a time, with an outcome for each; invitations are sent again and revoked', async () => {
    const { site, owner, get, send, person, staff } = await open(engine)
    await person('eve')
    await site.call(settings.blockDomains, { domains: ['spam.example'] })
    const token = await staff('user:invite')
    const good = Array.from({ length: 47 }, (_, number) => `new${number}@example.com`)
    const emails = `${good.join('\n')}, eve@example.org; x@spam.example\nnonsense`
    const answer = await send('/dashboard/invitations', token, { emails })
    expect([answer.status, answer.text.includes('47 invited, 3 failed')]).toEqual([200, true])
    const lines = Array.from(answer.text.matchAll(/<li><bdi>([^<]+)<\/bdi> <span class="problem">([^<]+)/g), ([, name, why]) => [name, why]) // prettier-ignore
    expect(lines).toEqual([
      ['eve@example.org', 'Has an account already, or was invited already.'],
      ['x@spam.example', 'The domain spam.example is blocked.'],
      ['nonsense', 'This is not an e-mail address.'],
    ])
    expect((await send('/dashboard/invitations', token, { emails: 'one@example.com' })).to).toBe('/dashboard/invitations?done=invited.1') // prettier-ignore
    const tooMany = await send('/dashboard/invitations', token, { emails: Array.from({ length: 51 }, (_, n) => `m${n}@example.com`).join(' ,') }) // prettier-ignore
    expect([
      tooMany.status,
      tooMany.text.includes('m50@example.com'),
      tooMany.text.includes('At most 50 addresses at once.'),
    ]).toEqual([422, true, true])
    const newest = (await site.call(invitations.list, { limit: 1 })).invitations[0]!
    const at = `/dashboard/invitations/${newest.username}`
    expect(offered((await get('/dashboard/invitations', token)).text)).toContain(`${at}/resend`)
    expect((await send(`${at}/resend`, token)).to).toBe('/dashboard/invitations?done=invitedAgain')
    expect((await get(`${at}/revoke`, token)).text).toContain('is deleted.')
    expect((await send(`${at}/revoke`, token)).to).toBe('/dashboard/invitations?done=invitationRevoked')
    expect((await site.call(invitations.list, { limit: 1 })).invitations[0]?.username).not.toBe(newest.username)
    await site.call(invitations.create, { emails: ['other@example.com'] })
    const other = (await site.call(invitations.list, { limit: 1 })).invitations[0]!
    const theirs = offered((await get('/dashboard/invitations', token)).text).filter((path) => path.includes(other.username)) // prettier-ignore
    expect(theirs, 'the command line sent it').toEqual([`/dashboard/invitations/${other.username}/resend`])
    expect((await get(`/dashboard/invitations/${other.username}/revoke`, token)).to).toBe('/dashboard/invitations')
    expect((await send(`/dashboard/invitations/${other.username}/revoke`, token)).status).toBe(403)
    expect((await get(`/dashboard/invitations/${other.username}/revoke`, owner)).text).toContain('other@example.com')
    expect((await get('/dashboard/invitations/nobody/revoke', owner)).status).toBe(404)
    expect((await get('/dashboard/invitations?state=waiting', owner)).text).toContain('other@example.com')
    expect((await get('/dashboard/invitations?state=expired', owner)).text).toContain('No invitation is in this state.')
  })
})

describe.each(engines)('a site that cannot send mail, on %s', (engine) => {
  it('is set up from its page, once its owner has read what that means', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {}, mail: false })
    const page = await site.http('GET //setup/create-account', { headers: cookieOf() })
    expect([page.status, page.text.includes('name="noMail"'), page.text.includes('mail.url is not set')]).toEqual([200, true, true]) // prettier-ignore
    const send = (form: Record<string, string>) =>
      site.http('POST //setup/create-account', {
        headers: { ...cookieOf(), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...OWNER, ...form }).toString(),
      })
    const refused = await send({})
    expect([refused.status, refused.text.includes('name="noMail"'), refused.text.includes(`value="${OWNER.email}"`)]).toEqual([501, true, true]) // prettier-ignore
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    const made = await send({ noMail: 'true' })
    expect([made.status, made.headers.location]).toEqual([303, '/setup/create-board'])
    const { email, password } = OWNER
    expect((await site.http('POST /auth/login', { body: { email, password } })).status).toBe(200)
    expect(await site.db.selectFrom('deliveries').select('deliveryId').execute()).toEqual([])
  })

  it('gets its accounts from the owner, with a password', async () => {
    const { site, owner, get, send, staff } = await open(engine, { mail: false })
    const path = '/dashboard/invitations'
    const page = await get(path, owner)
    expect([page.text.includes('cannot send mail yet'), offered(page.text).includes(`${path}/create`)]).toEqual([true, true]) // prettier-ignore
    expect(page.text).not.toContain('name="emails"')
    for (const [page, form] of [
      ['/settings', '/settings/verify'],
      ['/dashboard/settings/mail', ''],
    ]) {
      const { text } = await get(page!, owner)
      expect([page, text.includes('cannot send mail yet'), form !== '' && text.includes(form!)]).toEqual([
        page,
        true,
        false,
      ])
    }
    const eve = { email: 'eve@example.org', name: 'Eve', password: 'a good password' }
    expect(await send(`${path}/create`, owner, { ...eve, password: 'short' })).toMatchObject({ status: 422, text: expect.stringMatching(/<details class="history" open.*value="eve@example.org"/s) }) // prettier-ignore
    expect((await send(`${path}/create`, owner, eve)).to).toMatch(/^\/dashboard\/users\/eve\w*\?done=accountCreated$/)
    const { name, ...credentials } = eve
    expect((await site.http('POST /auth/login', { body: credentials })).body.user.name).toBe(name)
    const invites = await staff('user:invite')
    expect(offered((await get(path, invites)).text)).not.toContain(`${path}/create`)
    expect((await send(`${path}/create`, invites, { ...eve, email: 'other@example.org' })).status).toBe(403)
    const invited = await send(path, owner, { emails: 'bob@example.org' })
    expect([invited.status, invited.text.includes('bob@example.org</textarea>')]).toEqual([501, true])
  })

  it('tells its owner what to do, and visitors what is possible', async () => {
    const { owner, get, send } = await open(engine, { mail: false })
    for (const path of ['overview', 'settings/general', 'settings/mail', 'invitations']) {
      const { text } = await get(`/dashboard/${path}`, owner)
      expect([path, text.includes('feedbackctl config set mail.url smtp://')]).toEqual([path, true])
      expect(text).not.toMatch(/mail\/test"|Send yourself a test mail/)
    }
    for (const path of ['/', '/login']) expect((await get(path)).text).not.toMatch(/href="[^"]*\/join/)
    const join = await send('/join', '', { email: 'eve@example.org', password: 'a good password' })
    for (const { text, status } of [await get('/join'), join]) {
      expect([status, text.includes('Ask its owner to create one for you.')]).toEqual([status, true])
      expect(text).not.toMatch(/mail\.url|feedbackctl help|<form[^>]*action="\/join/)
    }
    const reset = await get('/password-reset')
    expect(reset.text).toContain('Ask its owner for a new password.')
    expect(reset.text).not.toMatch(/mail\.url|action="\/password-reset/)
    expect((await get('/settings', owner)).text).not.toContain('mail.url')
  })

  it('says none of it where mail is configured', async () => {
    const { owner, get } = await open(engine)
    for (const path of ['overview', 'settings/general', 'settings/mail'])
      expect((await get(`/dashboard/${path}`, owner)).text).not.toContain('cannot send mail yet')
    expect((await get('/dashboard/settings/mail', owner)).text).toContain('mail/test"')
    expect((await get('/')).text).toContain('/join')
  })
})

describe.each(engines)('the roles of the dashboard on %s', (engine) => {
  it('are listed with their people, created from a recipe, changed and deleted', async () => {
    const { site, owner, get, send, person } = await open(engine)
    await person('eve')
    const { text } = await get('/dashboard/settings/roles/new?recipe=moderator', owner)
    expect(text).toContain('Hide posts as spam and delete them')
    expect(text).toMatch(/value="post:destroy" checked/)
    expect(text).not.toMatch(/value="settings:update" checked/)
    const form: [string, string][] = [['name', 'Guards'], ['description', 'Keep it tidy'], ['permissions', 'user:block'], ['permissions', 'post:update'], ['require_totp', 'true']] // prettier-ignore
    const made = await send('/dashboard/settings/roles/new', owner, form)
    const [at = ''] = (made.to ?? '').split('?')
    expect(made.to).toMatch(/^\/dashboard\/settings\/roles\/[0-9a-f-]{36}\?done=roleCreated$/)
    const id = at.replace(/.*\//, '')
    expect((await site.call(roles.show, { id })).role).toMatchObject({ name: 'Guards', description: 'Keep it tidy', require_totp: true, permissions: ['post:update', 'user:block'] }) // prettier-ignore
    await site.call(roles.assign, { role_id: id, user_id: 'eve' })
    const list = (await get('/dashboard/settings/roles', owner)).text
    expect(list).toContain(`<a href="/dashboard/users?role=${id}">1</a>`)
    expect(
      (
        await send(at, owner, [
          ['name', 'Team'],
          ['permissions', 'post:update'],
        ])
      ).to,
    ).toBe(`${at}?done=saved`)
    expect((await site.call(roles.show, { id })).role).toMatchObject({ name: 'Team', description: null, require_totp: false, permissions: ['post:update'] }) // prettier-ignore
    const wrong = await send(at, owner, [
      ['name', ''],
      ['permissions', 'board:read'],
    ])
    expect([wrong.status, /value="board:read" checked/.test(wrong.text)]).toEqual([422, true])
    expect((await get(`${at}/delete`, owner)).text).toContain('1 person loses what it permits.')
    expect((await send(`${at}/delete`, owner)).to).toBe('/dashboard/settings/roles?done=roleDeleted')
    expect((await named(site, 'eve')).user.roles.map(({ name }) => name)).toEqual(['@everyone'])
    const { roles: built } = await site.call(roles.list, {})
    const everyone = await get(`/dashboard/settings/roles/${built[0]?.id}`, owner)
    expect(everyone.text).toContain('This role is built in.')
    expect(offered(everyone.text).filter((path) => path.endsWith('/delete'))).toEqual([])
  })

  it('say what would change before they are saved, and keep what was typed', async () => {
    const { site, owner, send } = await open(engine)
    const { role } = await site.call(roles.create, { name: 'Helpers', permissions: ['board:read', 'post:update'] })
    const form: [string, string][] = [['name', 'Helpers 2'], ['permissions', 'board:read'], ['permissions', 'post:destroy'], ['preview', 'yes']] // prettier-ignore
    const { status, text } = await send(`/dashboard/settings/roles/${role.id}`, owner, form)
    expect(status).toBe(200)
    const [changes = ''] = /<section class="note".*?<\/section>/s.exec(text) ?? []
    expect(changes).toMatch(/Gains 1 permission:.*Hide posts as spam and delete them.*Loses 1 permission:.*Change any post, its board and its status/s) // prettier-ignore
    expect(text).toContain('value="Helpers 2"')
    const stored = (await site.call(roles.show, { id: role.id })).role
    expect([stored.name, stored.permissions.toSorted()]).toEqual(['Helpers', ['board:read', 'post:update']])
    const same = await send(`/dashboard/settings/roles/${role.id}`, owner, [['name', 'Helpers'], ['permissions', 'board:read'], ['permissions', 'post:update'], ['preview', 'yes']]) // prettier-ignore
    expect(same.text).toContain('No permission changes.')
    const fresh = await send('/dashboard/settings/roles/new', owner, [['name', 'New'], ['permissions', 'board:read'], ['preview', 'yes']]) // prettier-ignore
    expect(fresh.text).toContain('Gains 1 permission:')
    expect((await site.call(roles.list, {})).roles.map(({ name }) => name)).not.toContain('New')
  })

  it('never give what their author lacks: it is off in the form, and a forged form is refused', async () => {
    const { site, get, send, person, staff } = await open(engine)
    await person('eve')
    const own: Permission[] = ['role:read', 'role:create', 'role:update', 'role:destroy', 'role:assign', 'role:unassign', 'user:read'] // prettier-ignore
    const token = await staff(...own)
    const held = new Set<string>((await site.http('GET /users/permissions', { token })).body.permissions)
    const { text } = await get('/dashboard/settings/roles/new?recipe=moderator', token)
    const boxes = PERMISSIONS.map((permission) => {
      const box = new RegExp(`<input[^>]*value="${permission}"[^>]*>`).exec(text)?.[0] ?? ''
      const isLacking = !held.has(permission)
      return { permission, isRight: box.includes('disabled') === isLacking && !(isLacking && box.includes('checked')) }
    })
    expect(boxes.filter(({ isRight }) => !isRight)).toEqual([])
    expect(text).toContain('What you lack yourself is off: you cannot give it.')
    const before = (await site.call(roles.list, {})).total_count
    for (const permission of PERMISSIONS.filter((each) => !held.has(each))) {
      const forged = await send('/dashboard/settings/roles/new', token, [
        ['name', 'x'],
        ['permissions', permission],
      ])
      expect([permission, forged.status]).toEqual([permission, 403])
    }
    expect((await site.call(roles.list, {})).total_count).toBe(before)
    const { role: weak } = await site.call(roles.create, { name: 'weak' })
    const { role: strong } = await site.call(roles.create, { name: 'strong', permissions: ['settings:update'] })
    expect((await send(`/dashboard/settings/roles/${weak.id}`, token, [['name', 'x'], ['permissions', 'settings:update']])).status).toBe(403) // prettier-ignore
    expect((await site.call(roles.show, { id: weak.id })).role).toMatchObject({ name: 'weak', permissions: [] })
    const page = (await get(`/dashboard/settings/roles/${strong.id}`, token)).text
    expect([page.includes('You cannot change this role'), page.includes('name="name"')]).toEqual([true, false])
    for (const [path, form] of [[`/dashboard/settings/roles/${strong.id}`, { name: 'x' }], [`/dashboard/settings/roles/${strong.id}/delete`, {}], ['/dashboard/users/eve/roles', { role_id: strong.id }]] as const) expect([path, (await send(path, token, form)).status]).toEqual([path, 403]) // prettier-ignore
    expect((await named(site, 'eve')).user.roles.map(({ name }) => name)).toEqual(['@everyone'])
    expect((await get('/dashboard/users/eve', token)).text).not.toContain(`value="${strong.id}"`)
  })
})

/** What each page needs beside `dashboard:read`: its section, and then what it is for. Without that it leads back. */
const PAGES: Record<string, readonly [Permission, (Permission | 'owner' | 'totp' | 'placeholder')?]> = {
  '/dashboard/users': ['user:read'],
  '/dashboard/users/eve': ['user:read'],
  '/dashboard/users/eve/block': ['user:read', 'user:block'],
  '/dashboard/users/eve/sign-out': ['user:read', 'user:block'],
  '/dashboard/users/eve/reset-totp': ['user:read', 'totp'],
  '/dashboard/users/eve/merge': ['user:read', 'placeholder'],
  '/dashboard/users/eve/delete': ['user:read', 'owner'],
  '/dashboard/invitations': ['user:invite'],
  '/dashboard/settings/roles': ['role:read'],
  '/dashboard/settings/roles/new': ['role:create'],
  '/dashboard/settings/roles/ROLE': ['role:read'],
  '/dashboard/settings/roles/ROLE/delete': ['role:read', 'role:destroy'],
}
const MENU = ['/dashboard/users', '/dashboard/invitations', '/dashboard/settings/roles']

describe.each(engines)('the pages about people on %s', (engine) => {
  it('are open to those whose rights they need, whoever asks, and only they find them in the menu', async () => {
    const { site, owner, get, person, staff } = await open(engine)
    await person('eve')
    const { role } = await site.call(roles.create, { name: 'Helpers' })
    const callers = {
      visitor: undefined,
      powerless: (await site.member([], { everyone: false })).token,
      member: (await site.member()).token,
      blocked: (await site.member(['dashboard:read', 'user:read'], { blocked: true })).token,
      outside: (await site.member(['user:read', 'user:invite', 'role:read'])).token,
      reader: await staff('user:read'),
      inviter: await staff('user:invite'),
      roleReader: await staff('role:read'),
      almost: (await site.member(PERMISSIONS.filter((each) => each !== 'dashboard:read'))).token,
      all: await staff(...PERMISSIONS.filter((each) => each !== 'dashboard:read')),
      owner,
    }
    const may: Record<string, string[]> = {
      reader: ['user:read'],
      inviter: ['user:invite'],
      roleReader: ['role:read'],
      all: [...PERMISSIONS],
      owner: [...PERMISSIONS, 'owner'],
    }
    for (const [name, token] of Object.entries(callers))
      for (const [path, [section, verb]] of Object.entries(PAGES)) {
        const { status, text } = await get(path.replace('ROLE', role.id), token)
        const has = (right: string | undefined) => right === undefined || (may[name]?.includes(right) ?? false)
        const expected = !has(section) ? 'closed' : has(verb) ? 'open' : 'leads back'
        expect([name, path, status === 200 ? 'open' : status === 303 && token && has(section) ? 'leads back' : 'closed']).toEqual([name, path, expected]) // prettier-ignore
        const shown = MENU.filter((entry) => text.includes(`href="${entry}"`))
        const offeredTo = status === 200 ? MENU.filter((entry) => has(PAGES[entry]?.[0])) : shown
        expect([name, path, shown]).toEqual([name, path, offeredTo])
        expect([name, path, status !== 200 && text.includes('EVE')]).toEqual([name, path, false])
      }
  })

  it('have no address in any byte for who lacks user:read', async () => {
    const { site, get, send, person } = await open(engine)
    await person('eve')
    await site.call(invitations.create, { emails: ['ines@example.com'] })
    const { role } = await site.call(roles.create, { name: 'Helpers' })
    await site.call(roles.assign, { role_id: role.id, user_id: 'eve' })
    const own = PERMISSIONS.filter((each) => each !== 'user:read')
    const { token, userId } = await site.member(own, { email: 'own@elsewhere.test' })
    expect(userId).toBeDefined()
    const { username } = (await site.call(invitations.list, {})).invitations[0]!
    const answers = [
      ...Object.keys(PAGES).map((path) => get(path.replace('ROLE', role.id), token)),
      get('/dashboard', token),
      get(`/dashboard/invitations/${username}/revoke`, token),
      send(`/dashboard/invitations/${username}/resend`, token),
      send('/dashboard/users/eve/block', token),
      send('/dashboard/users/eve/sign-out', token),
      send('/dashboard/users/eve/roles', token, { role_id: role.id }),
    ]
    for (const { text } of await Promise.all(answers)) expect(text).not.toMatch(/@example\.(org|com)|ada@|eve@|ines@/)
    expect(OWNER.email).toContain('@example.org')
  })
})

it('the list of people offers verbs once somebody is chosen, and says when they were seen no finer than it knows', async () => {
  const site = await serveSite('sqlite', { rates: {} })
  const token = await site.owner()
  await site.member([], { email: 'eve@example.org' })
  for (const script of [false, true]) {
    const { page } = await visit({ script })
    await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
    await page.goto(`${site.url}/dashboard/users`)
    const verbs = page.locator('.verbs button')
    expect(await verbs.first().isVisible()).toBe(false)
    await page.check('.pick input')
    expect(await Promise.all([verbs.first().isVisible(), verbs.last().isVisible()])).toEqual([true, true])
    await page.uncheck('.pick input')
    expect(await verbs.first().isVisible()).toBe(false)
  }
  const { page } = await visit({ now: new Date(site.clock.now.getTime() + 60_000) })
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.goto(`${site.url}/dashboard/users`)
  const seen = page.locator('td[data-label="Last seen"] time')
  expect(await seen.first().innerText()).toBe('this hour')
})
