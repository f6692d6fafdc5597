import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('lists as CSV on %s', (engine) => {
  it('are the same from a server as from the command', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const titles = ['=1+1', '"quoted", here', 'semi;colon', 'tab\there', '@home', ...Array.from({ length: 110 }, (_, at) => `Post ${at}`)] // prettier-ignore
    const csv = ['title', ...titles.map((title) => `"${title.replaceAll('"', '""')}"`)].join('\n')
    expect((await machine.run('posts create -', { stdin: csv })).code).toBe(0)
    for (const body of ['two\nlines', '-minus'])
      expect((await machine.run('comments create 1 --body-file -', { stdin: body })).code).toBe(0)
    const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    for (const [command, path] of [
      ['posts list', 'posts'],
      ['posts list --sort oldest', 'posts?sort=oldest'],
      ['posts list --query colon', 'posts?query=colon'],
      ['comments list', 'comments'],
    ] as const) {
      const printed = await machine.run(`${command} --all -o csv`)
      const sent = await fetch(`${server}/api/v1/export/${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect([path, sent.status, await sent.text()]).toEqual([path, 200, printed.stdout])
      expect([path, printed.stdout.split('\n').length]).not.toEqual([path, 2]) // only the heading
    }
  })
})
