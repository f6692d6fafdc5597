import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../src/core/catalogue.js'
import { connect } from '../../src/db/connect.js'
import { filled, rowsOf } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { PNG } from '../support/images.js'
import { engines, type Engine } from '../support/site.js'

const HOME = 'https://feedback.example.org/ideas'
const env = { FEEDBACKCTL_SITE_URL: HOME }

/** The files of a copy, by their paths. */
function filesIn(machine: Machine, folder: string): Map<string, Buffer> {
  const root = path.join(machine.folder, folder)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(path.join(root, name)).isFile()) // prettier-ignore
  return new Map(names.toSorted().map((name) => [name.replaceAll(path.sep, '/'), readFileSync(path.join(root, name))]))
}

const textOf = (files: ReadonlyMap<string, Buffer>, name: string): string => files.get(name)?.toString() ?? expect.fail(`there is no ${name}`) // prettier-ignore

interface Link {
  file: string
  /** The tag. */
  tag: string
  address: string
}

/** Every address that a page or a feed names, but for that where the page is at home. */
const linksIn = (files: ReadonlyMap<string, Buffer>): Link[] =>
  Array.from(files.keys())
    .filter((file) => /\.(html|atom)$/.test(file))
    .flatMap(
      (file) =>
      Array.from(textOf(files, file).matchAll(/<\w[^<]*?\s(?:href|src|srcset|action|formaction)="([^"]*)"/g), ([tag, address = '']) => ({ file, tag, address: address.replaceAll('&amp;', '&') })), // prettier-ignore
    )
    .filter(({ tag }) => !tag.includes('rel="canonical"'))

/** Links that lead to nothing, as a browser follows them from the disk. */
const deadIn = (files: ReadonlyMap<string, Buffer>): Link[] =>
  linksIn(files).filter(({ file, address }) => {
    const url = new URL(address, `file:///copy/${file}`)
    if (url.protocol !== 'file:') return url.href.startsWith(HOME)
    const name = decodeURIComponent(url.pathname).replace(/^\/copy\//, '')
    if (address.startsWith('/') || !files.has(name)) return true
    return url.hash !== '' && !textOf(files, name).includes(`id="${decodeURIComponent(url.hash.slice(1))}"`)
  })

async function copied(machine: Machine, folder = 'copy'): Promise<Map<string, Buffer>> {
  const { code, stderr } = await machine.run(`export --static ${folder}`)
  expect([code, stderr]).toEqual([0, expect.stringContaining(`to ${folder}.\n`)])
  return filesIn(machine, folder)
}

/** Runs commands that each have to succeed. */
async function after(machine: Machine, ...commands: string[]): Promise<string[]> {
  const outputs = []
  for (const command of commands) {
    const { code, stdout, stderr } = await machine.run(command, { env })
    expect([command, code, stderr]).toEqual([command, 0, expect.anything()])
    outputs.push(stdout.trim())
  }
  return outputs
}

/** Posts without more than a title. */
async function withPosts(machine: Machine, titles: readonly string[]): Promise<void> {
  expect(await machine.run('posts create -', { stdin: titles.map((title) => `${title}\n`).join('') })).toMatchObject({ code: 0 }) // prettier-ignore
}

describe.each(engines)('export --static on %s', (engine: Engine) => {
  it('writes pages of which each link leads to a file, and nothing private', async () => {
    const machine = await filled(engine)
    writeFileSync(path.join(machine.folder, 'shot.png'), PNG)
    const [image = ''] = await after(machine, 'images upload shot.png -q')
    const texts = [
      `![The settings](${new URL(image).pathname.replace('/ideas', '')}) and ![again](${image})`,
      `[number](/ideas/posts/1) [whole](${HOME}/posts/1) [secret](${HOME}/posts/2) [up](../../etc/passwd) [team](/ideas/dashboard) [near](./1)`,
      '[other](https://example.com/?a=1&b=2) [page](/ideas/?status=all&page=2) [odd](/ideas/posts/%E0%A4%A) [tag](/ideas/search?q=tag:mobile)', // prettier-ignore
    ]
    writeFileSync(path.join(machine.folder, 'text'), texts.join('\n\n'))
    await after(
      machine,
      "posts create 'With links' --board ideas --body-file text",
      "legal set imprint --text 'Here [we](/ideas/posts/1) are'",
      "comments create 1 --body 'see [that](/ideas/posts/With-links) @ada'",
      "comments create 1 --body 'for the team: strictly-internal' --internal",
    )
    await withPosts(
      machine,
      Array.from({ length: 45 }, (_, n) => `Wish ${n}`),
    )
    const before = await rowsOf(machine)
    const { code, stdout, stderr } = await machine.run('export --static copy --json', { env })
    const files = filesIn(machine, 'copy')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Wrote \d+ pages in \d+ files to copy\.\nLeft out 1 post of private boards\.\n$/)]) // prettier-ignore
    const pages = Array.from(files.keys()).filter((name) => name.endsWith('.html'))
    expect(JSON.parse(stdout)).toEqual({
      folder: 'copy',
      copiedAt: expect.stringMatching(/^20.*Z$/),
      files: files.size,
      pages: pages.length,
      feeds: Array.from(files.keys()).filter((name) => name.endsWith('.atom')).length,
      data: Array.from(files.keys()).filter((name) => name.endsWith('.json')).length,
      privatePosts: 1,
    })
    expect(Array.from(files.keys())).toEqual(expect.arrayContaining(['index.html', 'index.page-2.html', 'index.page-3.html', 'index.status-all.html', 'boards.html', 'boards/ideas.html', 'boards/ideas/feed.atom', 'roadmaps.html', 'roadmaps/planned.html', 'tags/mobile.html', 'legal/imprint.html', 'feed.atom', 'sitemap.xml', 'robots.txt', 'api/v1/posts.json', 'api/v1/boards.json', 'api/v1/roadmaps.json', 'api/v1/tags.json', 'api/v1/settings/site.json', 'api/v1/settings/legal/imprint.json'])) // prettier-ignore

    expect(await rowsOf(machine)).toEqual(before)
    expect(deadIn(files)).toEqual([])
    expect(linksIn(files).length).toBeGreaterThan(500)
    // People find what they look for, though no server can
    const slugs = (JSON.parse(textOf(files, 'api/v1/posts.json')) as { posts: { slug: string }[] }).posts.map(({ slug }) => slug) // prettier-ignore
    expect(slugs).toHaveLength(47)
    for (const slug of slugs) expect([slug, files.has(`posts/${slug}.html`)]).toEqual([slug, true])
    const whole = textOf(files, `posts/${slugs.find((slug) => slug.startsWith('with-links'))}.html`)
    const dark = `${slugs.find((slug) => slug.startsWith('dark-mode'))}.html`
    expect(whole).toMatch(
      new RegExp(
        `<a href="${dark}"[^>]*>number</a> <a href="${dark}"[^>]*>whole</a> secret <a href="https://feedback\\.example\\.org/etc/passwd"[^>]*>up</a> team <a href="${dark}"[^>]*>near</a>`,
      ),
    )
    expect(whole).toMatch(/<a href="https:\/\/example\.com\/\?a=1&amp;b=2"[^>]*>other<\/a>/)
    expect(whole).toMatch(/<a href="\.\.\/tags\/mobile\.html"[^>]*>tag<\/a>/)
    expect(whole.match(/src="\.\.\/api\/v1\/images\/[\w-]+\.webp"/g)).toHaveLength(2)
    expect(textOf(files, `api/v1/posts/${dark.replace('.html', '')}/activity.json`)).toContain('"first"')

    const all = Buffer.concat(Array.from(files.values())).toString('latin1')
    for (const word of ['Hidden wish', 'hidden-wish', 'Secret', 'strictly-internal', 'beta tester', '@example.org', 'ada@', 'Gone soon', machine.folder]) expect([word, all.includes(word)]).toEqual([word, false]) // prettier-ignore
    for (const name of pages) {
      const page = textOf(files, name)
      expect([name, /<form|<input|<button|<script|<textarea|\/login|\/join/.exec(page)]).toEqual([name, null])
      expect([name, page.match(/This is a copy of \w{3} \d+, 20\d\d\./g)]).toEqual([name, [expect.anything()]])
    }
    // Where it is at home is said by the canonical address, the names of feeds and the sitemap only
    const rest = Array.from(files).map(([name, data]) => (name.endsWith('.xml') || name === 'robots.txt' ? '' : data.toString('latin1').replaceAll(/<link rel="canonical"[^>]*>|<id>[^<]*<\/id>/g, ''))) // prettier-ignore
    const named = rest.flatMap((text) => text.match(new RegExp(`.{0,60}${HOME}.{0,60}`, 'g')) ?? [])
    expect(named.filter((text) => !/\[(whole|secret|again)\]\(/.test(text))).toEqual([]) // Markdown in the data stays as it was written
  })

  it('names files as every file system takes them, and none as another one', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await after(
      machine,
      'boards create Con --url con',
      "boards create 日本 --url '日本'",
      'boards create Aux --url aux',
    )
    const titles = ['.. / ..', '漢字'.repeat(50), 'x'.repeat(100), 'नमस्ते दुनिया', 'İstanbul', 'a%2e%2e%2fb', 'CON']
    await withPosts(machine, titles)
    const db = await connect(machine.databaseUrl)
    // What an import brings along
    const slugs = ['Dark', 'dark', 'DARK', '..', 'con', 'a.page-2', 'x\\y', 'z'.repeat(150), 'q?#&"\'<>|*:', '.', 'feed.atom'] // prettier-ignore
    const { userId } = await db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
    for (const [n, slug] of slugs.entries()) {
      await withPosts(machine, [`Slug ${n}`])
      await db
        .updateTable('posts')
        .set({ slug })
        .where('title', '=', `Slug ${n}`)
        .where('userId', '=', userId)
        .execute()
    }
    await db.destroy()
    const files = await copied(machine)
    const names = Array.from(files.keys())
    expect(names.filter((name) => !/^[\w.-]+(\/[\w.-]+)*$/.test(name) || name.split('/').some((part) => part.length > 120 || /^(con|aux)(\.html)?$/.test(part) || /^\.+$/.test(part)))).toEqual([]) // prettier-ignore
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    expect(deadIn(files)).toEqual([])
    const titled = (title: string) => names.filter((name) => /^posts\/[^/]+\.html$/.test(name) && textOf(files, name).includes(`<h1><bdi>${title}</bdi></h1>`)) // prettier-ignore
    const unreachable = new Set(['..', '.'])
    const found = slugs.map((slug, n) => [slug, titled(`Slug ${n}`).length])
    expect(found).toEqual(slugs.map((slug) => [slug, unreachable.has(slug) ? 0 : 1]))
    for (const title of titles) expect([title, titled(title)]).toEqual([title, [expect.any(String)]])
  })

  it('has all pages of comments, and links to one lead to it', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await after(machine, "posts create 'Dark mode'")
    const bodies = Array.from({ length: 60 }, (_, n) => JSON.stringify({ body: `Comment ${n}` }))
    for (const body of bodies) await machine.run('comments create 1 --body-file -', { stdin: (JSON.parse(body) as { body: string }).body }) // prettier-ignore
    const { comments } = JSON.parse((await machine.run('comments list 1 --all --json')).stdout.replace('"activity"', '"comments"')) as { comments: { id: string }[] } // prettier-ignore
    const oldest = comments.at(-1)?.id ?? ''
    const slug = (JSON.parse((await machine.run('posts show 1 --json')).stdout) as { post: { slug: string } }).post.slug
    await after(machine, `posts create 'With a link' --body '[that](/posts/1/comments/${oldest})'`)
    const files = await copied(machine)
    expect(deadIn(files)).toEqual([])
    expect(textOf(files, `posts/${slug}.page-2.html`)).toContain('Comment 0<')
    const other = Array.from(files.keys()).find((name) => /^posts\/with-a-link-\w+\.html$/.test(name)) ?? ''
    expect(textOf(files, other)).toContain(`href="${slug}.page-2.html#comment-${oldest}"`)
    expect(textOf(files, `posts/${slug}/feed.atom`)).toContain(`#comment-`)
    expect(JSON.parse(textOf(files, `api/v1/posts/${slug}/activity.json`))).toMatchObject({ total_count: 60 })
  })
})

it.each(['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar'])('says in %s of which day it is', async (language) => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { stdout } = await machine.run('export --static copy --json', { env: { FEEDBACKCTL_SITE_LANGUAGE: language } })
  const { copiedAt } = JSON.parse(stdout) as { copiedAt: string }
  const page = textOf(filesIn(machine, 'copy'), 'index.html')
  expect(page).toContain(`<html lang="${language}"`)
  expect(page).toContain(`>${wordsOf(language).t('layout.copy', { date: wordsOf(language).date(copiedAt) })}</time>`)
})

it('has the logo, the colour, the style and the announcement of the owner', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  writeFileSync(path.join(machine.folder, 'shot.png'), PNG)
  const [logo = ''] = await after(machine, 'images upload shot.png -q')
  await after(
    machine,
    `settings update --logo ${logo} --logo-dark ${logo} --accent-color aa3366 --custom-css 'h1{color:red}' --announcement 'We **move**.' --header-links '[Help](${HOME}/boards)' --footer-links '[Else](https://example.com/)'`, // prettier-ignore
  )
  await machine.run('export --static copy', { env })
  const files = filesIn(machine, 'copy')
  expect(deadIn(files)).toEqual([])
  const page = textOf(files, 'index.html')
  for (const part of ['assets/accent/aa3366.css', 'assets/custom.', 'We <strong>move</strong>', 'href="boards.html" dir="auto">Help', 'href="https://example.com/"']) expect(page).toContain(part) // prettier-ignore
  expect(page).toMatch(/<img src="api\/v1\/images\/[\w-]+\.webp" alt/)
})

it('can be read by a web server of another user', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await after(machine, 'boards create Ideas', "posts create 'Dark mode' --board ideas")
  await after(machine, 'export --static copy')
  const modes = ['copy', 'copy/boards', 'copy/index.html'].map((name) => statSync(path.join(machine.folder, name)).mode & 0o777) // prettier-ignore
  expect(modes).toEqual([0o755, 0o755, 0o644])
})

it('keeps the owner and the mode of an empty folder', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const [kind, name] of [
    ['--static', 'copy'],
    ['--csv', 'sheets'],
  ] as const) {
    // prettier-ignore
    const folder = path.join(machine.folder, name)
    mkdirSync(folder)
    chmodSync(folder, 0o2750)
    const [uid, gid] = process.getuid?.() === 0 ? [12_345, 23_456] : [process.getuid?.(), process.getgid?.()]
    chownSync(folder, uid ?? 0, gid ?? 0)
    await after(machine, `export ${kind} ${name}`)
    const { mode, uid: owner, gid: group } = statSync(folder)
    expect([mode & 0o7777, owner, group]).toEqual([0o2750, uid, gid])
    const file = statSync(path.join(folder, readdirSync(folder).find((each) => /\.(html|csv)$/.test(each)) ?? ''))
    expect([file.uid, file.gid]).toEqual([uid, gid])
  }
})

it('refuses what it cannot write, and what contradicts it', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  mkdirSync(path.join(machine.folder, 'full'))
  writeFileSync(path.join(machine.folder, 'full/x'), '')
  const refusals = {
    full: 'full is not empty',
    'new --out x': '--static and --out contradict each other',
    'new --csv x': '--csv and --static contradict each other',
    'new --with-passwords': '--static and --with-passwords contradict each other',
  }
  for (const [args, said] of Object.entries(refusals)) {
    const before = readdirSync(machine.folder, { recursive: true })
    expect([args, await machine.run(`export --static ${args}`)]).toEqual([args, expect.objectContaining({ code: 2, stdout: '', stderr: expect.stringContaining(said) })]) // prettier-ignore
    expect(readdirSync(machine.folder, { recursive: true })).toEqual(before)
  }
  expect((await machine.run('export --static new')).stderr).toContain(
    'Warning: the setting site.url is not a public address',
  )
  expect(filesIn(machine, 'new').has('index.html')).toBe(true)
  const fresh = await makeMachine('sqlite')
  await fresh.run('settings show')
  expect(await fresh.run('export --static new')).toMatchObject({ code: expect.toSatisfy((code) => code !== 0), stderr: expect.stringContaining('SITE_NOT_FOUND') }) // prettier-ignore
  expect(readdirSync(fresh.folder).filter((name) => name.startsWith('new'))).toEqual([])
})
