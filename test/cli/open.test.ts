import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('"open" prints the address of the site, a post, a board or a roadmap, and opens it on a terminal', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run("boards create '💡 Ideas'")
  await machine.run('roadmaps create Planned')
  await machine.run("posts create 'Dark mode'")
  const address = async (name: string) => (await machine.run(`open ${name}`, { env: { FEEDBACKCTL_SITE_URL: 'https://example.org/feedback' } })).stdout // prettier-ignore
  expect(await address('')).toBe('https://example.org/feedback/\n')
  expect(await address('1')).toMatch(/^https:\/\/example\.org\/feedback\/posts\/dark-mode-\w+\n$/)
  expect(await address('#1')).toBe(await address('1'))
  expect(await address('ideas')).toBe('https://example.org/feedback/boards/ideas\n')
  expect(await address('planned')).toBe('https://example.org/feedback/roadmaps/planned\n')
  expect(JSON.parse(await address('ideas --json'))).toEqual({ url: 'https://example.org/feedback/boards/ideas' })
  const missing = await machine.run('open nowhere')
  expect([missing.code, missing.stdout]).toEqual([3, ''])
  expect(missing.stderr).toContain('There is no post, board or roadmap "nowhere".')

  const [browser, opened] = ['browser', 'opened'].map((name) => path.join(machine.folder, name)) as [string, string]
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}\n`)
  chmodSync(browser, 0o755)
  const terminal = machine.terminal('open ideas', { env: { BROWSER: browser } })
  expect((await terminal.ended).code).toBe(0)
  await expect.poll(() => readFileSync(opened, 'utf8')).toMatch(/^http:\/\/localhost:\d+\/boards\/ideas$/)
})
