import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { expect, it } from 'vitest'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'
import { zipOf } from '../support/zip.js'

const PAGE = '/dashboard/settings/import'
const IDEAS = 'ID,Subject,Forum,Votes\n1,Dark mode,Ideas,"1,128"\n2,"<b>=cmd()</b>",Ideas,7\n3,,Ideas,1\n'

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
    /** Sends the form that confirms what a page shows. */
    async confirm(url: string, { text }: Shown) {
      const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]) // prettier-ignore
      return shown(await fetch(`${url}${PAGE}/run`, { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' })) // prettier-ignore
    },
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
      [IDEAS, 'names none', { map: 'title' }],
    ] as const) {
      const { status, text: page } = await owner.upload(url, 'x', content, fields)
      const [, problem] = /role="alert".*?<p>(.*?)<\/p>/s.exec(page) ?? []
      expect([status, problem]).toEqual([said === 'too much' ? 413 : 422, expect.stringContaining(said)])
      expect(problem).not.toMatch(/feedbackctl-import|\.\.$/)
    }
    expect(await announced(url, token, 300_000_000)).toEqual([413, true])
    expect(leftIn(machine)).toEqual([])

    // An export of another site, which only an empty one takes
    const own = await owner.upload(url, 'site.jsonl', text)
    expect([own.status, await titlesAt(url)]).toEqual([200, []])
    expect(rowsIn(own)).toContainEqual(['post', '2'])
    const put = await owner.confirm(other, own) // another server of the machine
    expect([put.status, put.text]).toEqual([200, expect.stringContaining('ada@example.org')])
    expect(rowsIn(put)).toEqual(rowsIn(own))
    expect(put.cookies.join()).toMatch(/feedbackctl=;/)
    expect([await titlesAt(url), await titlesAt(other)]).toEqual([['Dark mode'], ['Dark mode']])
    expect(leftIn(machine)).toEqual([])

    // A table of another product
    const again = browserOf(await tokenAt(url, 'login', 'ada@example.org'))
    const refused = await again.upload(url, 'site.jsonl', text)
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('The site is not empty')])
    const checked = await again.upload(url, 'ideas.csv', IDEAS, { map: 'title=Subject\r\n', boardId: '', product: '' })
    expect(rowsIn(checked)).toContainEqual(['Posts', '3', '2', '0', '0', '1'])
    expect(rowsIn(checked)).toContainEqual(['Ideas', '2 of 3', '1,135 of 1,136', '0 of 0'])
    expect(checked.text).toContain('title is missing')
    expect(await titlesAt(url)).toEqual(['Dark mode'])
    expect(leftIn(machine)).toHaveLength(1)
    const done = await again.confirm(url, checked)
    expect(rowsIn(done)).toContainEqual(['Posts', '3', '2', '0', '0', '1'])
    expect(done.text).not.toContain('name="kept"')
    expect(await titlesAt(other)).toEqual(['<b>=cmd()</b>', 'Dark mode', 'Dark mode'])
    expect(leftIn(machine)).toEqual([])
    const member = browserOf(await tokenAt(url, 'signup', 'eve@example.org'))
    expect((await member.upload(url, 'ideas.csv', IDEAS)).status).toBe(403)
    expect((await member.get(`${url}${PAGE}`)).status).toBe(404)
    const gone = await again.confirm(url, checked)
    expect([gone.status, gone.text]).toEqual([404, expect.stringContaining('no longer here')])
    const second = await again.upload(url, 'ideas.csv', IDEAS)
    expect(rowsIn(second)).toContainEqual(['Posts', '3', '0', '0', '2', '1'])
  },
)
