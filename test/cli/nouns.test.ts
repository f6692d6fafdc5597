import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { engines } from '../support/site.js'

/** Replaces values that differ from run to run. */
const normalize = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/-[0-9a-z]{20}\b/g, '-<slug>')
    .replaceAll(/"slugId":"\w+"/g, '"slugId":"<slug>"')
    .replaceAll(/_[0-9a-z]{8}\b/g, '_<name>')
    .replaceAll(/"avatar":"[^"]*"/g, '"avatar":"<avatar>"')

async function served(machine: Machine): Promise<{ url: string; slug: string }> {
  await machine.setup()
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
    stdin: 'correct horse battery',
  })
  await machine.run('boards create Ideas --color 1d4ed8')
  await machine.run('roadmaps create Planned --color 15803d')
  await machine.run('users create eve@example.org --name Eve --password-stdin', { stdin: 'a good password' })
  const created = await machine.run("posts create 'Dark mode' --board ideas --body 'My eyes'")
  return { url, slug: /dark-mode-\w+/.exec(created.stdout)?.[0] ?? '' }
}

describe.each(engines)('every noun on %s', (engine) => {
  it('prints the same locally and through a server, as text and as JSON', async () => {
    const machine = await makeMachine(engine)
    const { url, slug } = await served(machine)
    const { run } = machine
    const both = async (args: string) => {
      const [here, there] = [await run(args), await run(`${args} --server ${url}`)]
      expect({ args, ...there, stderr: there.stderr.replaceAll(` --server ${url}`, '') }).toEqual({ args, ...here })
      return here
    }
    const reads = [
      'posts list',
      'posts list --sort votes --board ideas --all',
      `posts show ${slug}`,
      'posts search dark',
      `votes list ${slug}`,
      `comments list ${slug}`,
      'boards list',
      'boards check-slug other',
      'boards check-name Other',
      'roadmaps list',
      'roadmaps show planned',
      'roadmaps search pla',
      'users list',
      'users show eve@example.org',
      'roles list',
      'roles show @everyone',
      'roles permissions',
      'settings show',
      'settings blocked-domains',
      'settings notifications',
      'account notifications',
      'labs show',
      'events list --limit 3',
      'account permissions',
      'account dashboard',
    ]
    for (const args of reads) {
      const [read, json] = [await both(args), await both(`${args} --json`)]
      expect(read).toMatchObject({ code: 0, stderr: expect.not.stringContaining('✗') })
      expect(JSON.parse(json.stdout)).toBeTypeOf('object')
    }
    for (const [args, code, exit] of [
      ['posts show nothing', 'POST_NOT_FOUND', 3],
      ['posts list --board nothing', 'VALIDATION_ERROR', 3],
      ['posts create x --board nothing --body x', 'VALIDATION_ERROR', 3],
      ['users show nobody@example.org', 'USER_NOT_FOUND', 3],
      ['users block ada@example.org', 'CANNOT_CHANGE_OWNER', 5],
      ['users create eve@example.org --generate-password', 'USER_EXISTS', 5],
      ['roles delete @everyone --yes', 'CANNOT_UPDATE_SYSTEM_ROLE', 5],
      ['roles assign nothing --user eve@example.org', 'INVALID_ROLE_ID', 3],
      [`votes add ${slug}`, 'VOTE_EXISTS', 5],
      [`votes add ${slug} --as eve@example.org`, 'LABS_DISABLED', 5],
      ['roadmaps create Planned --url planned', 'ROADMAP_URL_EXISTS', 5],
      ['settings update --accent-color red', 'INVALID_ACCENT_COLOR', 2],
      ['settings block-domains example.org', 'VALIDATION_ERROR', 2],
    ] as const) {
      const refused = await both(args)
      expect([args, refused.code, refused.stdout]).toEqual([args, exit, ''])
      expect(refused.stderr).toContain(code)
    }
  })

  it('is changed locally and through a server, with the same output', async () => {
    const answers: string[][] = []
    for (const remote of [false, true]) {
      const machine = await makeMachine(engine)
      const { url, slug } = await served(machine)
      const { run } = machine
      const seen: string[] = []
      const step = async (args: string, stdin?: string) => {
        const { code, stdout, stderr } = await run(
          `${args}${remote ? ` --server ${url}` : ''}`,
          stdin === undefined ? {} : { stdin },
        )
        seen.push(normalize(`${args.replaceAll(slug, 'POST')}\n${code}\n${stdout}${stderr}`).replaceAll(url, ''))
        return stdout
      }
      await step(`posts update ${slug} --title 'Dark theme' --roadmap planned --json`)
      await step(`posts update ${slug} --body-file -`, 'from stdin')
      await step(`posts show ${slug} --json`)
      await step('labs update --vote-on-behalf true --json')
      await step(`votes add ${slug} --as eve@example.org`)
      await step(`votes delete ${slug} --as eve@example.org --json`)
      await step(`votes remove ${slug} --json`)
      await step(`votes add ${slug}`)
      const said = await step(`comments create ${slug} --body 'First!' --internal true --json`)
      const { activity } = JSON.parse(said) as { activity: { id: string } }
      await step(`comments update ${activity.id} --post ${slug} --body Second --internal false`)
      await step(`comments delete ${activity.id} --post ${slug} --yes`)
      await step('roadmaps create Later --color b91c1c --json')
      await step('roadmaps move later --position 1 --json')
      await step('roadmaps update later --name Someday --display false')
      await step('roadmaps update later --kind declined --json')
      await step('roadmaps delete later --yes')
      await step('roles create helpers --permissions post:update,post:destroy --json')
      await step('roles assign helpers --user eve@example.org --json')
      await step('roles update helpers --description Help')
      await step('roles unassign helpers --user eve@example.org')
      await step('roles delete helpers --yes')
      await step("settings update --title 'Moon base' --allow-signup false --json")
      await step('settings block-domains mailinator.com,Example.net')
      await step('users update eve@example.org --notes Nice --json')
      await step('users sign-out eve@example.org --yes')
      await step('users block eve@example.org --yes')
      await step('users unblock eve@example.org --json')
      await step('users delete eve@example.org --posts delete --yes')
      await step(`posts delete ${slug} --yes`)
      await step('posts list --json')
      answers.push(seen)
      expect(seen.filter((text) => text.split('\n')[1] !== '0')).toEqual([])
    }
    expect(answers[1]).toEqual(answers[0])
  })
})

describe('dry runs', () => {
  it('of all commands that change data change nothing', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    await machine.run('boards create Ideas')
    await machine.run('roadmaps create Planned')
    await machine.run('roles create helpers')
    await machine.run('users create eve@example.org --generate-password')
    const created = await machine.run('posts create Post --body x')
    const slug = /post-\w+/.exec(created.stdout)?.[0]
    const state = async () => (await machine.run('events list --limit 100 --json')).stdout
    const before = await state()
    for (const args of [
      'posts create x --body x',
      `posts update ${slug} --title y`,
      `posts delete ${slug}`,
      `votes remove ${slug}`,
      `comments create ${slug} --body x`,
      'boards create x',
      'boards delete ideas',
      'roadmaps create x',
      'roadmaps move planned --position 1',
      'roadmaps delete planned',
      'roles create x',
      'roles assign helpers --user eve@example.org',
      'roles delete helpers',
      'users create x@example.org --generate-password',
      'users create y@example.org',
      'users block eve@example.org',
      'users update eve@example.org --name X',
      'users delete eve@example.org',
      'settings update --title X',
      'settings block-domains example.net',
      'labs update --vote-on-behalf true',
      'account signup z@example.org --generate-password',
    ]) {
      const result = await machine.run(`${args} --dry-run`)
      expect([args, result.code]).toEqual([args, 0])
      expect(result.stderr).toMatch(/^Would [a-z]+[ :]/m)
      expect(result.stderr).not.toContain('The password, shown only now')
    }
    expect(await state()).toBe(before)
    expect((await machine.run('posts list -q')).stdout).toBe(`${slug}\n`)
  })
})

describe('feedbackctl events list --follow', () => {
  it('prints events of another process as they happen, and ends with Ctrl-C', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const following = machine.start('events list --follow -o jsonl')
    const lines = () => following.output().stdout.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { action: string; subject: string | null; operator: string }).action) // prettier-ignore
    await expect.poll(lines).toEqual(['site.set_up'])
    await machine.run('boards create Ideas')
    await machine.run("posts create 'Dark mode' --body x")
    await expect.poll(lines).toEqual(['site.set_up', 'board.created', 'post.created'])
    const { code, stderr } = await following.stop('SIGINT')
    expect([code, stderr]).toEqual([130, ''])
    expect(await machine.run('events list --follow --json')).toMatchObject({ code: 2, stdout: '' })
  })

  it('starts after a given event, and retries while a server is unreachable', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const listen = `--listen 127.0.0.1:${await freePort()}` // it listens there again
    const server = machine.start(`serve ${listen}`)
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
      stdin: 'correct horse battery',
    })
    const following = machine.start(`events list --follow --after 1 -o jsonl --server ${url}`)
    await machine.run('boards create Ideas')
    await expect.poll(() => following.output().stdout).toContain('board.created')
    expect(following.output().stdout).not.toContain('site.set_up')
    await server.stop()
    await following.says(/Retrying until it responds/)
    await machine.run('boards create Bugs')
    await machine.start(`serve ${listen}`).says(/listening on/)
    await expect.poll(() => following.output().stdout).toContain('"Bugs"')
    expect((await following.stop()).code).toBe(143)
  })
})

describe('posts on a terminal', () => {
  it('are a table with title, board, votes, roadmap, author and age', async () => {
    const machine = await makeMachine('sqlite')
    const { slug } = await served(machine)
    await machine.run(`posts update ${slug} --roadmap planned`)
    const { text } = await machine.terminal('posts list --no-color').ended
    expect(text).toMatch(
      /^NUMBER +TITLE +BOARD +VOTES +ROADMAP +AUTHOR +AGE\r\n#1 +Dark mode +Ideas +1 +Planned +Ada +just now\r\nPage 1 of 1 · 1 of 1\r\n$/,
    )
    const wide = await machine.terminal('posts list --no-color', { columns: 100 }).ended
    expect(wide.text).toMatch(
      /^NUMBER +TITLE +BOARD +VOTES +ROADMAP +AUTHOR +AGE +SLUG\r\n#1 +Dark mode .*dark-mode-\w{20}\r\n/,
    )
    const found = await machine.terminal('posts search DARK --no-color', { columns: 60 }).ended
    expect(found.text).toMatch(/^NUMBER +TITLE +(?:\w+ +)*AGE\r\n#1 +Dark mode .*\r\nPage 1 · 1 row\r\n$/)
  })

  it('are written in the editor', async () => {
    const machine = await makeMachine('sqlite')
    const { slug } = await served(machine)
    const { code } = await machine.terminal(`posts update ${slug}`, { env: { EDITOR: `sed -i s/eyes/nerves/` } }).ended
    expect(code).toBe(0)
    expect(JSON.parse((await machine.run(`posts show ${slug} --json`)).stdout).post.contentMarkdown).toBe('My nerves')
  })
})

describe('a mail queued by a local command', () => {
  const mailsIn = (machine: Machine) => readdirSync(path.join(machine.folder, 'mail')).length

  it('is delivered at once, without a server, and a note shows the URL of its links unless it was set', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    let count = mailsIn(machine)
    const note = 'Note: links in mails start with http://localhost'
    for (const args of [
      'users create eve@example.org',
      'account signup zoe@example.org --generate-password -q',
      'account verify --as zoe@example.org',
      'account reset-password eve@example.org',
    ]) {
      const dry = await machine.run(`${args} --dry-run`)
      expect([args, dry.code, mailsIn(machine), dry.stderr.includes(note)]).toEqual([args, 0, count, false])
      const { code, stderr } = await machine.run(args)
      expect([args, code, mailsIn(machine)]).toEqual([args, 0, ++count])
      expect(stderr).toContain(note)
    }
    const set = await machine.run('account reset-password eve@example.org --site-url https://f.example.org')
    expect([set.stderr.includes(note), mailsIn(machine)]).toEqual([false, ++count])
    const silent = await machine.run('users create x@example.org --generate-password')
    expect([silent.stderr.includes(note), mailsIn(machine)]).toEqual([false, count])
  })

  it('stays queued if it cannot be delivered, which is reported but is no failure', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    expect(await machine.run('users create eve@example.org --mail-url smtp://127.0.0.1:1')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /The mail to eve@example\.org is not delivered yet: .*"feedbackctl serve" keeps trying\.\n$/,
      ),
    })
  })

  it('is delivered alone: what others queued is left to the server, and is not reported', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const unreachable = '--mail-url smtp://127.0.0.1:1'
    await machine.run(`users create eve@example.org ${unreachable}`)
    const other = await machine.run(`users create zoe@example.org ${unreachable}`)
    expect(other.stderr).toMatch(/The mail to zoe@example\.org is not delivered yet/)
    expect(other.stderr).not.toContain('eve@')
    const count = mailsIn(machine)
    expect(await machine.run('users create bob@example.org')).toMatchObject({ code: 0 })
    expect(mailsIn(machine)).toBe(count + 1)
    const waiting = JSON.parse((await machine.run('mail queue list --json')).stdout)
    expect(waiting.mails.map(({ recipient }: { recipient: string }) => recipient).toSorted()).toEqual(['eve@example.org', 'zoe@example.org']) // prettier-ignore
  })

  it('is delivered by the server with --server, and a sign-up prints how to log in', async () => {
    const machine = await makeMachine('sqlite')
    const { url } = await served(machine)
    expect(await machine.run(`account signup zoe@example.org --generate-password --server ${url}`)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        new RegExp(`Signed up zoe@example\\.org\\. .* Next: feedbackctl login --server ${url}\n$`),
      ),
    })
  })
})

describe('a command that will be refused', () => {
  it('does not ask for confirmation', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    expect(await machine.run('users delete ada@example.org')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CANNOT_CHANGE_OWNER'),
    })
    expect(await machine.run('roles delete @everyone')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CANNOT_UPDATE_SYSTEM_ROLE'),
    })
  })

  it('names all flags if nothing is to be changed, and writes no event', async () => {
    const machine = await makeMachine('sqlite')
    const { slug } = await served(machine)
    const before = (await machine.run('events list --json')).stdout
    for (const [args, flags] of [
      [
        'boards update ideas',
        '--name, --url, --color, --view-voters, --private, --description, --template, --posting, --sort, --archived, or --hides-votes',
      ],
      ['roadmaps update planned', '--name, --url, --color, --private, or --kind'],
      [`posts update ${slug}`, '--title, --body, --board, --roadmap, --pinned, --locked, or --message'],
      [`comments update x --post ${slug}`, '--body, --internal, or --spam'],
      ['roles update @everyone', '--name, --description, --permissions, or --require-totp'],
      ['users update eve@example.org', '--name, --username, --email, --notes, --verified, or --password-stdin'],
      ['labs update', '--vote-on-behalf'],
      [
        'settings update',
        '--title, --description, --logo, --logo-dark, --accent-color, --google-analytics-id, --signup, --hold-first-posts, --developer-mode, --announcement, --announcement-until, --signup-note, --header-links, --footer-links, --custom-css, --new-for, --limit-posts, --limit-comments, --limit-edits, or --limit-reports',
      ],
    ] as const)
      expect([args, await machine.run(args)]).toEqual([
        args,
        { code: 2, stdout: '', stderr: expect.stringContaining(`✗ Nothing to change. Give ${flags}.\n`) },
      ])
    expect((await machine.run('events list --json')).stdout).toBe(before)
  })

  it('does not act as a blocked account, and shows no permissions of others', async () => {
    const machine = await makeMachine('sqlite')
    await served(machine)
    await machine.run('users block eve@example.org --yes')
    expect(await machine.run('posts create x --body x --as eve@example.org')).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        /^✗ This account is blocked\. Unblock it first: feedbackctl users unblock eve@example\.org\n[^]*USER_BLOCK/,
      ),
    })
    for (const verb of ['permissions', 'dashboard'])
      expect((await machine.run(`account ${verb} --as ada@example.org`)).stderr).toContain("Unknown option '--as'")
  })
})

describe('tables', () => {
  it('show what further commands need: ids of comments and events, names, labs', async () => {
    const machine = await makeMachine('sqlite')
    const { slug } = await served(machine)
    const table = async (args: string, columns = 80) =>
      (await machine.terminal(`${args} --no-color`, { columns }).ended).text
    await machine.run(`comments create ${slug} --body '${'long '.repeat(20)}'`)
    expect(await table(`comments list ${slug}`)).toMatch(
      /^TEXT +AUTHOR +AGE +ID\r\nlong [^\r]*… +Ada +just now +[0-9a-f-]{36}\r\n/,
    )
    expect(await table('events list', 60)).toMatch(/ID +ACTION/)
    await machine.run('roles create helpers')
    await machine.run('roles assign helpers --user eve@example.org')
    await machine.run(`account signup zoe@example.org --generate-password`)
    expect(await table('users list')).not.toContain('@everyone')
    expect(await table('users list')).toMatch(/\r\nuser_\w+ +zoe@example\.org/)
    expect(await table('roles list')).toMatch(/ID\r\n/)
    expect((await machine.run('labs show')).stdout).toBe('voteOnBehalf\tno\n')
    const following = machine.terminal('events list --follow --limit 3')
    await following.sees(/role\.assigned +helpers for eve_\w+/)
  })

  it('use the singular for one, and leave out what there is none of', async () => {
    const machine = await makeMachine('sqlite')
    const { slug } = await served(machine)
    const asked = async (args: string) => (await machine.run(args)).stderr.split('\n')[0]
    const sure = ' This cannot be undone. Pass --yes to confirm.'
    expect(await asked('boards delete ideas')).toContain(`? This leaves 1 post without a board.${sure}`)
    expect(await asked(`posts delete ${slug}`)).toContain(`? This also deletes 1 vote.${sure}`)
    const person = 'users delete eve@example.org'
    expect(await asked(person)).toContain(`<eve@example.org>?${sure}`)
    expect(await asked(`${person} --posts delete`)).toContain(
      `<eve@example.org>? This also deletes any comments they wrote.${sure}`,
    )
    await machine.run("posts create 'Of eve' --body x --as eve@example.org")
    expect(await asked(person)).toMatch(/\? This also deletes 1 vote, and leaves 1 post without an author\./)
    expect(await asked(`${person} --posts delete`)).toMatch(
      /\? This also deletes 1 vote and 1 post, and any comments they wrote\./,
    )
    for (const flag of ['', '--internal']) await machine.run(`comments create ${slug} --body x ${flag}`)
    expect(await asked(`posts delete ${slug}`)).toContain(`? This also deletes 1 vote and 2 comments.${sure}`)
    await machine.run('boards create Empty')
    expect(await asked('boards delete empty')).toContain(`"Empty" (empty)?${sure}`)
    expect((await machine.run('boards delete empty --dry-run')).stderr).toBe('Would delete board "Empty" (empty).\n')
  })
})
