import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'
import { smtpHost } from '../support/smtp.js'

/** The link in a mail. Quoted-printable wraps long lines with "=". */
function linkIn(mail: string | undefined): URL {
  const plain = mail?.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
  const found = /https?:\/\/\S+\?token=[\w-]+/.exec(plain ?? '')
  if (!found) throw new Error(`no link in ${mail}`)
  return new URL(found[0])
}

describe.each(engines)('a new person on a site on %s', (engine) => {
  it('signs up, confirms the address by the link in a mail, posts, votes, comments and is blocked; the owner sees it all from the command line', async () => {
    const machine = await makeMachine(engine)
    const mail = await smtpHost()
    const setup = await machine.run(
      `setup --email ada@example.org --password-stdin --name Ada --mail-url ${mail.url}`,
      { stdin: 'correct horse battery' },
    )
    expect(setup.code).toBe(0)
    const server = machine.start('serve --site-url https://example.org/feedback')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    let token = ''
    const ask = async (request: string, body?: object) => {
      const [method, path] = request.split(' ') as [string, string]
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() }
    }
    const operate = async (args: string, stdin?: string) => {
      const result = await machine.run(args, stdin === undefined ? {} : { stdin })
      expect(result).toMatchObject({ code: 0 })
      return result.stdout
    }
    await operate("boards create '💡 Ideas'")
    await operate('roadmaps create Planned')

    const signed = await ask('POST /auth/signup', {
      email: 'Eve@Example.org',
      password: 'a good password',
      name: 'Eve',
    })
    expect([signed.status, signed.body.user.email]).toEqual([201, 'eve@example.org'])
    token = signed.body.user.authToken
    await expect.poll(() => mail.received.filter(({ to }) => to.includes('eve@example.org')).length).toBe(1)
    const link = linkIn(mail.received.find(({ to }) => to.includes('eve@example.org'))?.text)
    expect(link.href).toMatch(/^https:\/\/example\.org\/feedback\/email-verify\/\?token=/)
    expect((await fetch(`${url}/email-verify/${link.search}`)).status).toBe(200) // the path that a proxy forwards
    expect((await ask('GET /users/profile')).body.user.isVerified).toBe(false)
    const oneTime = { token: link.searchParams.get('token') }
    expect((await ask('POST /auth/email/validate', oneTime)).body).toEqual({ verify: { success: true } })
    expect((await ask('POST /auth/email/validate', oneTime)).body.code).toBe('INVALID_TOKEN')
    expect((await ask('GET /users/profile')).body.user.isVerified).toBe(true)

    const { post } = (
      await ask('POST /posts', {
        title: 'Dark mode',
        contentMarkdown: 'Please.',
        boardId: (await ask('GET /boards/ideas')).body.board.boardId,
      })
    ).body
    const others = (await operate("posts create 'Light mode' --body Sun --json")).trim()
    const other = (JSON.parse(others) as { post: { postId: string } }).post.postId
    expect((await ask('POST /votes', { postId: other })).status).toBe(201)
    expect((await ask('DELETE /votes', { postId: other })).status).toBe(200)
    expect((await ask('POST /votes', { postId: other })).body.voters.votesCount).toBe(2)
    expect((await ask(`POST /posts/${other}/comments`, { body: 'Not for me' })).status).toBe(201)

    await operate(`posts update ${post.slug} --roadmap planned`)
    await operate(`comments create ${post.slug} --body-file -`, 'Coming\nsoon')
    expect((await ask('POST /posts/get', { roadmapId: 'planned' })).body.posts[0].title).toBe('Dark mode')
    expect((await ask(`GET /posts/${post.postId}/activity`)).body.activity[0]).toMatchObject({
      author: { name: 'Ada' },
      comment: { body: 'Coming\nsoon' },
    })
    expect(await operate('posts list --sort votes -o tsv')).toMatch(
      /^2\tLight mode\t\t2\t1\t\tAda\t[^\n]+\n1\tDark mode\t💡 Ideas\t1\t1\tPlanned\tEve\t/,
    )

    await operate('users block eve@example.org --yes')
    const refused = await ask('POST /posts', { title: 'One more' })
    expect([refused.status, refused.body.code]).toEqual([403, 'USER_BLOCK'])
    expect((await ask('POST /auth/login', { email: 'eve@example.org', password: 'a good password' })).body.code).toBe(
      'USER_BLOCKED',
    )
    await operate('users unblock eve@example.org')

    await operate('account reset-password eve@example.org')
    await expect.poll(() => mail.received.filter(({ to }) => to.includes('eve@example.org')).length).toBe(2)
    const reset = linkIn(mail.received.at(-1)?.text).searchParams.get('token')
    expect((await ask('POST /auth/password/set', { token: reset, password: 'a better password' })).body).toEqual({
      reset: { success: true },
    })
    expect((await ask('GET /users/profile')).body.code).toBe('INVALID_TOKEN') // the old session
    token = (await ask('POST /auth/login', { email: 'eve@example.org', password: 'a better password' })).body.user
      .authToken
    expect((await ask('GET /users/profile')).status).toBe(200)

    await operate('users delete eve@example.org --yes')
    expect((await ask('GET /users/profile')).body.code).toBe('USER_NOT_FOUND')
    token = ''
    expect((await ask('POST /posts/slug', { slug: post.slug })).body.post).toMatchObject({
      title: 'Dark mode',
      author: { name: 'deleted user' },
      voters: { votesCount: 0 },
    })
    const actions = (await operate('events list --created asc --limit 100 -o tsv')).trim().split('\n').map((line) => line.split('\t')[1]) // prettier-ignore
    expect(actions).toEqual([
      'site.set_up',
      'board.created',
      'roadmap.created',
      'user.signed_up',
      'user.verified',
      'post.created',
      'post.created',
      'post.voted',
      'post.unvoted',
      'post.voted',
      'comment.created',
      'post.updated',
      'comment.created',
      'user.blocked',
      'user.sign_in_failed',
      'user.unblocked',
      'user.reset_requested',
      'user.password_set',
      'user.signed_in',
      'user.deleted',
    ])
    expect(server.output().stderr).not.toMatch(/token=(?!\*)|a good password|a better password/)
  })
})
