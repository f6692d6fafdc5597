import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, serve } from '../support/cli.js'
import { PNG } from '../support/images.js'
import { engines } from '../support/site.js'

/** The page of an image that is not there, as whoever may not see it gets it. */
const ABSENT = [404, 'text/html; charset=utf-8']

describe.each(engines)('images on %s', (engine) => {
  it('are uploaded from files, and shown by the post that has their address', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    writeFileSync(path.join(machine.folder, 'shot.png'), PNG)
    const uploaded = await machine.run('images upload shot.png -q')
    expect([uploaded.code, uploaded.stderr]).toEqual([0, ''])
    const address = uploaded.stdout.trim()
    expect(address).toMatch(/\/api\/v1\/images\/[0-9a-f-]{36}-2x1\.webp$/)
    const http = await serve(machine)
    const shown = async () => {
      const { status, headers } = await http(`GET ${new URL(address).pathname.replace('/api/v1', '')}`)
      return [status, headers['content-type']]
    }
    expect(await shown()).toEqual(ABSENT)
    expect(await machine.run(`posts create 'Dark mode' --body '![The settings](${address})'`)).toMatchObject({ code: 0 }) // prettier-ignore
    expect(await shown()).toEqual([200, 'image/webp'])
    const [, id = ''] = /images\/([0-9a-f]{8})/.exec(address) ?? []
    expect(await machine.run(`images delete ${id} --yes`)).toMatchObject({ code: 0, stderr: expect.stringContaining('Deleted image') }) // prettier-ignore
    expect(await shown()).toEqual(ABSENT)
  })
})

it('files that cannot be read or are no images are refused, and a dry run stores nothing', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  writeFileSync(path.join(machine.folder, 'shot.png'), PNG)
  writeFileSync(path.join(machine.folder, 'drawing.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(path.join(machine.folder, 'large.png'), Buffer.concat([PNG, Buffer.alloc(5_000_000)]))
  const refusals = {
    'drawing.svg': /no image.*\n[^]*IMAGE_REFUSED \(exit 2\)/,
    'large.png': /large\.png is larger than 5\.0 MB/,
    'shot.png missing.png': /Cannot read missing\.png: it does not exist\./,
    '.': /Cannot read \.: it is a folder\./,
  }
  for (const [files, said] of Object.entries(refusals))
    expect([files, await machine.run(`images upload ${files}`)]).toEqual([files, expect.objectContaining({ code: 2, stderr: expect.stringMatching(said) })]) // prettier-ignore
  expect((await machine.run('images upload shot.png --dry-run')).stderr).toContain('Would add 1 image.')
  expect((await machine.run('events list --action image.created --json')).stdout).toContain('"events":[]')
  expect((await machine.run('images upload shot.png shot.png')).stderr).toContain('Added 2 images.')
})
