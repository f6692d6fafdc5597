import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { CANNY, FIDER } from '../support/rivals.js'
import { engines } from '../support/site.js'
import { zipOf } from '../support/zip.js'

const PAGE = '/dashboard/settings/import'
const IDEAS = 'ID,Subject,Forum,Votes,State\n1,Dark mode,Ideas,"1,128",Soon\n2,"<b>=cmd()</b>",Ideas,7\n3,,Ideas,1\n'

async function served(machine: Machine): Promise<string> {
  const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  return url
}

interface Shown {
  status: number
  text: string
  cookies: string[]
}

/** A browser without scripts, in which this token is signed in. */
const browserOf = (token: string | undefined) => {
  const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin', ...(token && { cookie: `feedbackctl=${token}` }) } // prettier-ignore
  const shown = async (answer: Response): Promise<Shown> => ({ status: answer.status, text: await answer.text(), cookies: answer.headers.getSetCookie() }) // prettier-ignore
  return {
    get: async (url: string) => shown(await fetch(url, { headers, redirect: 'manual' })),
    async upload(url: string, name: string, content: string | Buffer, fields: Record<string, string> = {}) {
      const form = new FormData()
      for (const [field, value] of Object.entries(fields)) form.set(field, value)
      form.set('file', new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), name)
      return shown(await fetch(`${url}${PAGE}`, { method: 'POST', headers, body: form, redirect: 'manual' }))
    },
    /** Sends a form of the page: the one that imports what was checked, or that ends it. */
    async send(url: string, form: 'run' | 'cancel', { text }: Shown) {
      const [, runId = ''] = /name="runId" value="([^"]*)"/.exec(text) ?? []
      return shown(await fetch(`${url}${PAGE}/${form}`, { method: 'POST', headers, body: new URLSearchParams({ runId }), redirect: 'manual' })) // prettier-ignore
    },
    /** The page once nothing runs any more. */
    over: (url: string) =>
      vi.waitUntil(
        async () => {
          const page = await shown(await fetch(`${url}${PAGE}`, { headers }))
          return page.text.includes('data-progress="busy"') ? undefined : page
        },
        { timeout: 60_000 },
      ),
  }
}

/** Sends the beginning of a form that says how long it is. Returns the status, and whether the page says what to do. */
const announced = (url: string, token: string, length: number): Promise<[number | undefined, boolean]> =>
  new Promise((resolve, reject) => {
    const headers = { cookie: `feedbackctl=${token}`, 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=x', 'content-length': length } // prettier-ignore
    const sent = request(`${url}${PAGE}`, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve([answer.statusCode, text.includes('There is too much in this file')]))
    })
    sent.on('error', reject)
    sent.write('--x\r\n')
  })

/** The cells of a page, row by row. */
const rowsIn = ({ text }: Shown): string[][] =>
  [...text.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '')),
  )

const titlesAt = async (url: string): Promise<string[]> => {
  const answer = await fetch(`${url}/api/v1/posts/get`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }) // prettier-ignore
  return ((await answer.json()) as { posts: { title: string }[] }).posts.map(({ title }) => title).toSorted()
}

async function tokenAt(url: string, way: 'login' | 'signup', email: string): Promise<string> {
  const body = JSON.stringify({ email, password: 'correct horse battery' })
  const answer = await fetch(`${url}/api/v1/auth/${way}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }) // prettier-ignore
  return ((await answer.json()) as { user: { authToken: string } }).user.authToken
}

const leftIn = (machine: Machine) =>
  readdirSync(path.join(machine.folder, 'data/feedbackctl')).filter((name) => name.startsWith('feedbackctl-import-'))

it.each(engines)(
  'the owner imports files from a page, which shows first what would come of them, on %s',
  async (engine) => {
    const text = (await (await filled(engine === 'sqlite' ? 'postgres' : 'sqlite')).run('export')).stdout
    const machine = await makeMachine(engine)
    const token = (await machine.setup()).replace('Bearer ', '')
    const owner = browserOf(token)
    const [url, other] = [await served(machine), await served(machine)]

    // For the owner alone, before anything of the file is taken
    expect((await browserOf(undefined).get(`${url}${PAGE}`)).status).toBe(303)
    expect((await browserOf(undefined).upload(url, 'ideas.csv', IDEAS)).status).toBe(400)
    expect((await owner.get(`${url}${PAGE}`)).text).toContain('enctype="multipart/form-data"')

    // What cannot be imported is said on the page, and is gone
    for (const [content, said, fields] of [
      ['', 'it is empty', {}],
      ['PK no archive', 'no ZIP archive', { product: 'quackback' }],
      ['postgres://u:secret@127.0.0.1/other', 'Cannot tell what', {}],
      ['postgres://u@127.0.0.1/other', 'the JSON of its API', { product: 'astuto' }],
      ['Name of nothing;x\n1;2\n', 'No column is the title. Name it with title=HEADER', { product: 'csv', map: '' }],
      [zipOf({ 'posts.json': '[]' }, 60_000_000), 'too much', {}],
    ] as const) {
      expect((await owner.upload(url, 'x', content, fields)).status).toBe(303)
      const { text: page } = await owner.over(url)
      const [, problem] = /class="problem" role="status">(.*?)<\/p>/s.exec(page) ?? []
      expect(problem).toContain(said)
      expect(problem).not.toMatch(/feedbackctl-import|\.\.$/)
    }
    expect((await owner.upload(url, 'x', IDEAS, { map: 'title' })).text).toContain('names none')
    expect(await announced(url, token, 300_000_000)).toEqual([413, true])
    expect(leftIn(machine)).toEqual([])

    // An export of another site, which only an empty one takes
    expect((await owner.upload(url, 'site.jsonl', text)).status).toBe(303)
    const own = await owner.over(url)
    expect(await titlesAt(url)).toEqual([])
    expect(rowsIn(own)).toContainEqual(['post', '2'])
    expect(own.text).toContain('Everybody is signed out, you too')
    expect((await owner.send(other, 'run', own)).status).toBe(303) // another server of the machine
    await vi.waitUntil(async () => (await owner.get(`${url}${PAGE}`)).status === 303, { timeout: 60_000 })
    expect([await titlesAt(url), await titlesAt(other)]).toEqual([['Dark mode'], ['Dark mode']])
    const again = browserOf(await tokenAt(url, 'login', 'ada@example.org'))
    expect(rowsIn(await again.over(url))).toEqual(rowsIn(own))
    expect(leftIn(machine)).toEqual([])

    // A table of another product
    await again.upload(url, 'site.jsonl', text)
    expect((await again.over(url)).text).toContain('The site is not empty')
    await again.upload(url, '<b>\u202eideas\u0000.csv', IDEAS, { map: 'title=Subject\r\n', boardId: '', product: '' })
    const checked = await again.over(url)
    expect(checked.text).toMatch(/<bdi>&lt;b>[^<]*ideas/)
    expect(rowsIn(checked)).toContainEqual(['Posts', '3', '2', '0', '0', '1'])
    expect(rowsIn(checked)).toContainEqual(['Ideas', '2 of 3', '1,135 of 1,136', '0 of 0'])
    expect(checked.text).toMatch(/title is missing[^<]*<\/q><ul><li>Row 4/)
    expect(checked.text).toMatch(/New boards, statuses and tags<\/h3><ul><li>Statuses: [^<]*Soon/)
    expect(await titlesAt(url)).toEqual(['Dark mode'])
    expect(leftIn(machine)).toHaveLength(1)
    expect((await again.send(url, 'run', checked)).status).toBe(303)
    const done = await again.over(other)
    expect(rowsIn(done)).toContainEqual(['Posts', '3', '2', '0', '0', '1'])
    expect(done.text).not.toContain('name="runId"')
    expect(rowsIn(await again.get(`${url}${PAGE}`))).toEqual(rowsIn(done)) // a reload, and the other server
    expect(await titlesAt(other)).toEqual(['<b>=cmd()</b>', 'Dark mode', 'Dark mode'])
    expect(leftIn(machine)).toEqual([])
    const member = browserOf(await tokenAt(url, 'signup', 'eve@example.org'))
    expect((await member.upload(url, 'ideas.csv', IDEAS)).status).toBe(403)
    expect((await member.get(`${url}${PAGE}`)).status).toBe(404)
    expect((await again.send(url, 'run', checked)).status).toBe(303)
    expect(rowsIn(await again.over(url))).toEqual(rowsIn(done))

    // What was refused is a file, which can be mended and imported
    const [, file = ''] = /href="([^"]*refused\.jsonl[^"]*)"/.exec(done.text) ?? []
    expect((await member.get(`${url}${file}`)).status).toBeGreaterThanOrEqual(400)
    expect((await browserOf(undefined).get(`${url}${file}`)).status).toBe(303)
    const refused = await again.get(`${other}${file}`)
    expect(refused.text.trim().split('\n').map((line) => JSON.parse(line) as object)).toEqual([
      { type: 'header', format: 'feedbackctl-refused', source: 'csv' },
      expect.objectContaining({ type: 'post', title: '', importedVotes: 1 }),
    ]) // prettier-ignore
    await again.upload(url, 'refused.jsonl', refused.text.replace('"title":""', '"title":"Mended"'))
    await again.send(url, 'run', await again.over(url))
    expect(rowsIn(await again.over(url))).toContainEqual(['Posts', '1', '1', '0', '0', '0'])
    expect(await titlesAt(url)).toEqual(['<b>=cmd()</b>', 'Dark mode', 'Dark mode', 'Mended'])
    await again.upload(url, 'ideas.csv', IDEAS)
    expect(rowsIn(await again.over(url))).toContainEqual(['Posts', '3', '0', '0', '3', '0'])

    // More refused rows than it lists
    await again.upload(url, 'many.csv', `id,title\n${Array.from({ length: 23 }, (_, at) => `x${at},\n`).join('')}`)
    expect((await again.over(url)).text).toMatch(/Row 21 <bdi><\/bdi><\/li><li>and 3 more<\/li>/)
  },
)

it.each(engines)(
  'images of a file come along by the page, and it names those of other hosts, on %s',
  async (engine) => {
    const machine = await makeMachine(engine)
    const owner = browserOf((await machine.setup()).replace('Bearer ', ''))
    const url = await served(machine)
    const imported = async (name: string, content: string | Buffer) => {
      expect((await owner.upload(url, name, content)).status).toBe(303)
      const checked = await owner.over(url)
      await owner.send(url, 'run', checked)
      const done = await owner.over(url)
      expect(rowsIn(done).slice(1)).toEqual(rowsIn(checked).slice(1))
      return done
    }
    expect(rowsIn(await imported('backup.zip', FIDER['backup.zip']))).toContainEqual([
      'Images',
      '1',
      '1',
      '0',
      '0',
      '0',
    ])
    const { text } = await fetch(`${url}/posts/1`).then(async (answer) => ({ text: await answer.text() }))
    const [, address = ''] = /<img src="([^"]+-2x1\.webp)"/.exec(text) ?? []
    expect((await fetch(new URL(address, url))).headers.get('content-type')).toBe('image/webp')
    const linked = await imported('posts.json', JSON.stringify(CANNY['canny/posts1.json']))
    expect(linked.text).toMatch(/1 image of another host stays a link[^]*https:\/\/canny\.example\/1\.png/)
    const many = Array.from({ length: 50 }, (_, n) => `![](import-image:<b>-${n})`).join('')
    const texts = [many, many, many]
    const records = [
      { type: 'header', format: 'feedbackctl-refused', source: 'fider' },
      ...texts.map((text, n) => ({ type: 'post', sourceId: `p${n}`, title: `Post ${n}`, text })),
    ]
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    for (const _ of ['imported', 'imported before']) {
      const { text: page } = await imported('posts.jsonl', lines)
      expect(page).toContain('150 images are missing')
      expect([...page.matchAll(/<li>Posts <bdi>p[01]<\/bdi>: <bdi dir="ltr">&lt;b>-\d+<\/bdi><\/li>/g)]).toHaveLength(
        100,
      )
    }
  },
)
