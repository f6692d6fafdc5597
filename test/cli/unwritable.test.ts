import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine, PROGRAM } from '../support/cli.js'

const isRoot = process.getuid?.() === 0
/** Root may write everywhere, so the program runs as nobody. */
const user = isRoot ? { uid: 65534, gid: 65534 } : { uid: process.getuid?.(), gid: process.getgid?.() }
const id = `${user.uid}:${user.gid}`

/** A machine whose data folder the user of `serve` may not write, and a function that starts it. */
async function withFolder() {
  const machine = await makeMachine('sqlite')
  const data = path.join(machine.folder, 'data/feedbackctl')
  mkdirSync(data, { recursive: true })
  chmodSync(machine.folder, 0o755)
  const serve = () =>
    new Promise<string>((resolve) => {
      execFile(process.execPath, [PROGRAM, 'serve'], { cwd: '/', env: machine.env, ...user }, (_error, _stdout, stderr) => resolve(stderr)) // prettier-ignore
    })
  return { machine, data, serve }
}

it('a folder that the user may not write is named, with the line that gives it to them', async () => {
  const { data, serve } = await withFolder()
  if (!isRoot) chmodSync(data, 0o500)
  expect(await serve()).toMatch(
    new RegExp(`Cannot write in ${data}[^]*fix   chown ${id} ${data}\n[^]*DATABASE_UNUSABLE`),
  )
})

it.runIf(isRoot)('a folder with files of root is named with a line for all of them (needs root)', async () => {
  const { machine, data, serve } = await withFolder()
  await machine.setup(machine.process)
  expect(await serve()).toContain(`fix   chown -R ${id} ${data}\n`)
})
