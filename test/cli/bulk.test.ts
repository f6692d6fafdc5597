import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

it.each(engines)('posts on %s are moved and decided about together, and that is undone', async (engine) => {
  const { run, setup } = await makeMachine(engine)
  await setup()
  await run('boards create Ideas')
  await run('roadmaps create Planned')
  await run('posts create - --board ideas', { stdin: 'One\nTwo\nThree\n' })
  const places = async () => JSON.parse((await run('posts list --fields number,board,roadmap')).stdout).map(({ number, board, roadmap }: { number: number; board: { url: string } | null; roadmap: { url: string } | null }) => `${number} ${board?.url} ${roadmap?.url}`) // prettier-ignore
  const undone = (said: string) => /feedbackctl (\w+ undo \S+)/.exec(said)?.[1] ?? ''

  expect(await run('posts move - 1 --roadmap planned --dry-run -o table', { stdin: '2\n3\n' })).toMatchObject({ stderr: 'Would move 3 posts.\nWould tell nobody.\n' }) // prettier-ignore
  expect(await places()).toEqual(['3 ideas undefined', '2 ideas undefined', '1 ideas undefined'])
  const moved = await run('posts move - 1 --roadmap planned --board none -o table', { stdin: '2\n3\n' })
  expect(moved).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^NUMBER +TITLE +OUTCOME\n#2 +Two +changed\n#3/),
  })
  expect(moved.stderr).toMatch(/^Moved 3 posts\.\nTo undo it within ten minutes: feedbackctl posts undo \S+\n$/)
  expect(await places()).toEqual(['3 undefined planned', '2 undefined planned', '1 undefined planned'])
  expect(await run(undone(moved.stderr))).toMatchObject({ code: 0, stderr: 'Took back 3 changes.\n' })
  expect(await places()).toEqual(['3 ideas undefined', '2 ideas undefined', '1 ideas undefined'])
  expect(await run(undone(moved.stderr))).toMatchObject({ code: 3, stderr: expect.stringContaining('UNDO_NOT_FOUND') })

  const told = async (flags: string) => (await run(`posts update 1 --roadmap planned ${flags} --dry-run -o table`)).stderr // prettier-ignore
  expect(await told('')).toBe('Would update post #1 "One".\nWould tell nobody.\n')
  await run('users create eve@example.org --no-invite')
  await run('posts follow 1 --as eve@example.org')
  expect(await told('--message There')).toBe('Would update post #1 "One".\nWould tell 1 person: 1 on the page only.\n')
  expect(await told('--message "There, @nobody"')).toContain('Would tell 1 person')
  await run('users create dan@example.org --no-invite --name Dan')
  const [dan] = JSON.parse((await run('users list --query dan@ --fields username')).stdout)
  expect(await told(`--message @${dan.username}`)).toContain('Would tell 2 people: 2 on the page only.\n')
  await run('posts follow 1 2 --as dan@example.org')
  const wouldTell = async (command: string) => (await run(`${command} --dry-run -o table`)).stderr.split('\n').at(-2)
  expect(await wouldTell('posts move 1 2 3 --roadmap planned')).toBe('Would tell 2 people: 2 on the page only.')
  expect(await wouldTell('posts move 1 2 3 --roadmap planned --no-tell')).toBe('Would tell nobody.')
  expect(await wouldTell('posts move 1 2 3 --board none')).toBe('Would move 3 posts.')
  expect(await wouldTell('posts merge 2 --into 3')).toBe('Would tell 1 person: 1 on the page only.')
  expect(await wouldTell('posts merge 1 2 --into 3')).toBe('Would tell nobody.')
  expect(await wouldTell('posts merge 1 2 --into 3 --tell')).toBe('Would tell 2 people: 2 on the page only.')
  await run('users delete dan@example.org --yes')
  expect(await told('--no-tell')).toBe('Would update post #1 "One".\nWould tell nobody.\n')
  expect((await run('posts update 1 --title One --dry-run -o table')).stderr).toBe('Would update post #1 "One".\n')
  expect(await run('posts update 1 --roadmap planned --no-tell')).toMatchObject({ code: 0 })
  expect((await run('events list --action post.updated --limit 1 --json')).stdout).toContain('"quiet"')

  const isQuiet = async () =>
    (await run('events list --action post.updated --limit 1 --json')).stdout.includes('"quiet"')
  expect(await run('posts update 1 --roadmap none --quiet')).toMatchObject({ code: 0, stderr: '' })
  expect(await isQuiet()).toBe(true)
  expect(await run('posts update 1 --roadmap planned --quiet --tell')).toMatchObject({ code: 0 })
  expect(await isQuiet()).toBe(false)
  expect(await run('posts move 1 2 --roadmap none -q')).toMatchObject({ code: 0 })
  expect(await isQuiet()).toBe(true)
  expect(await run('posts move 1 --roadmap planned --no-tell')).toMatchObject({ code: 0 })

  expect(await run('moderate decide spam 1 2 99 -o table')).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/^99 +failed +Post "99" not found\.$/m),
    stderr: expect.stringContaining('Hid 2 items. 1 failed.\n'),
  })
  expect(await run('moderate decide keep 99')).toMatchObject({ code: 5 })
  const decided = JSON.parse((await run('moderate decide keep 1 2 --json')).stdout)
  expect(decided).toMatchObject({ changed: 2, failed: 0, undo: { undo_id: expect.any(String) } })
  const listed = JSON.parse((await run('posts list --json')).stdout)
  expect(listed.posts).toHaveLength(3)

  expect(await run('moderate decide delete 1 2')).toMatchObject({ code: 5, stderr: expect.stringContaining('--yes') })
  const would = await run('moderate decide delete 1 2 --dry-run -o table')
  expect(would.stdout).toMatch(/^NUMBER +TITLE +OUTCOME +LOST\n#1 +One +changed +1 vote\n/)
  expect(would.stderr).toContain('Would delete 2 items.')
  expect(await run('moderate decide delete 1 2 99 --yes -o table')).toMatchObject({ code: 7, stderr: expect.stringContaining('Deleted 2 items. 1 failed.\n') }) // prettier-ignore
  expect(await places()).toEqual(['3 ideas undefined'])
  expect(await run('posts move 1')).toMatchObject({ code: 2, stderr: expect.stringContaining('--board') })
})
