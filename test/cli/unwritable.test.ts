import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine, PROGRAM } from '../support/cli.js'

// Root may write everywhere, so the program runs as nobody; as another user, the folder is root's own.
it('a folder that the user may not write is named, with the line that gives it to them', async () => {
  const machine = await makeMachine('sqlite')
  const data = path.join(machine.folder, 'data/feedbackctl')
  mkdirSync(data, { recursive: true })
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  if (user.uid === undefined) chmodSync(data, 0o500)
  chmodSync(machine.folder, 0o755)
  const id = `${user.uid ?? process.getuid?.()}:${user.gid ?? process.getgid?.()}`
  const run = () =>
    new Promise<string>((resolve) => {
      execFile(process.execPath, [PROGRAM, 'serve'], { cwd: '/', env: machine.env, ...user }, (_error, _stdout, stderr) => resolve(stderr)) // prettier-ignore
    })
  expect(await run()).toMatch(new RegExp(`Cannot write in ${data}[^]*fix   chown ${id} ${data}\n[^]*DATABASE_UNUSABLE`))
  if (user.uid === undefined) return
  await machine.setup(machine.process) // by root, and so are its files
  expect(await run()).toContain(`fix   chown -R ${id} ${data}\n`)
})
