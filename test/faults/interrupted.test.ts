import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { backupsOf, json, rowsOf } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'
import { amount, figures } from './amount.js'

const POSTS = amount(3000, 20_000)
/** The shares of its work after which a command is interrupted. */
const MOMENTS = Array.from({ length: amount(3, 30) }, (_, n, all = amount(3, 30)) => n / all)

/** A site that takes a moment to copy. */
async function largeMachine(engine: Engine, posts = POSTS): Promise<Machine> {
  const machine = await makeMachine(engine)
  await machine.setup()
  const db = await connect(machine.databaseUrl)
  const { userId } = await db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
  for (let from = 0; from < posts; from += 500) {
    const ids = Array.from({ length: Math.min(500, posts - from) }, newId)
    await db.insertInto('posts').values(ids.map((postId) => ({ postId, title: `Post ${postId}`, slug: postId, slugId: postId, contentMarkdown: 'dark mode '.repeat(40), userId, boardId: null, roadmap_id: null, createdAt: '2026', updatedAt: '2026' }))).execute() // prettier-ignore
  }
  await db.destroy()
  return machine
}

const postsOf = async (machine: Machine): Promise<string> => (await rowsOf(machine)).posts?.join() ?? ''
const dataOf = ({ folder }: Machine) => path.join(folder, 'data/feedbackctl')
const temporaryOf = ({ folder }: Machine) => path.join(folder, 'tmp')

/** What is in the folders that commands write to, by the names that stay. */
function filesOf(machine: Machine): string[] {
  const folders = [dataOf(machine), backupsOf(machine), temporaryOf(machine), machine.folder]
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  const names = folders.flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
  // A SQLite file that is open has the first two, and a killed command leaves them for the next; V8's code cache stays
  return names.filter((name) => !/feedback\.db-(wal|shm)$|\/\.cache$/.test(name)).toSorted()
}

interface Moment {
  signal?: NodeJS.Signals
  /** Whether it comes again as soon as nothing listens for it. */
  isTwice?: boolean
  /** Turns of the event loop since it handles signals. */
  after?: number
  /** A file that it has made by then. */
  folder?: string
  name?: string
  /** The file for the number of turns that it took. */
  turns?: string
}

/** Runs a command that interrupts itself, so that the moment does not depend on how fast the machine is. */
const interrupted = (machine: Machine, command: string, moment: Moment) =>
  machine.process(command, {
    env: {
      TMPDIR: temporaryOf(machine),
      NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'interrupt.js')}`,
      FEEDBACKCTL_TEST_INTERRUPT: JSON.stringify(moment),
    },
  })

/** How many turns of the event loop a command works. */
async function turnsOf(machine: Machine, command: string): Promise<number> {
  const turns = path.join(machine.folder, 'turns')
  expect(await interrupted(machine, command, { turns })).toMatchObject({ code: 0 })
  const counted = Number(readFileSync(turns, 'utf8'))
  rmSync(turns)
  return counted
}

/** Makes a database one that a copy can go to. */
async function empty(url: string): Promise<void> {
  if (url.startsWith('sqlite:'))
    return rmSync(path.dirname(url.slice('sqlite:'.length)), { recursive: true, force: true })
  const db = await connect(url)
  await clear(db)
  await db.destroy()
}

/** A backup that is whole, or the site that a restore has replaced. */
const isKept = (file: string) => /\.backup$|before-restore-\w+(-\d+)?$/.test(file)

describe.each(engines)('on %s', { timeout: amount(240_000, 3_600_000) }, (engine) => {
  it.for(['backup create', 'restore FILE --yes', 'backup rehearse FILE', 'db copy FROM TO'])(
    '"%s" ends after Ctrl-C with nothing left, and killed it leaves what "doctor" removes',
    async (words, context) => {
      const machine = await largeMachine(engine)
      const file = path.join(machine.folder, 'site.backup')
      await json(machine, `backup create ${file}`)
      const states = [await postsOf(machine)]
      await machine.run("posts create 'After the backup'")
      states.push(await postsOf(machine))
      const target = await makeMachine(engine === 'sqlite' ? 'postgres' : 'sqlite')
      const emptied = () => empty(target.databaseUrl)
      await emptied()
      // At once: a random name of a folder may have "TO" in it
      const places: Record<string, string> = { FILE: file, FROM: machine.databaseUrl, TO: target.databaseUrl }
      const command = words.replaceAll(/FILE|FROM|TO/g, (place) => places[place] ?? '')
      const isWhole = async () => expect(states.includes(await postsOf(machine))).toBe(true)
      filesOf(machine) // makes the folders
      const turns = await turnsOf(machine, command)
      const codes: (number | null)[] = []
      for (const share of MOMENTS) {
        await emptied()
        const files = filesOf(machine)
        const { code, stderr } = await interrupted(machine, command, {
          signal: 'SIGINT',
          after: Math.floor(turns * share),
        })
        codes.push(code)
        // After it has done all, the signal ends nothing
        expect(code).toBeOneOf([130, 0])
        expect(/Interrupted\.[^]*INTERRUPTED \(exit 130\)/.test(stderr)).toBe(code === 130)
        const added = filesOf(machine).filter((each) => !files.includes(each))
        expect(code === 130 ? added : added.filter((each) => !isKept(each))).toEqual([])
        await isWhole()
      }
      expect(codes[0], 'it was interrupted at work').toBe(130)

      let [left, killed] = [0, 0]
      for (const share of MOMENTS) {
        await emptied()
        const files = filesOf(machine)
        const { code } = await interrupted(machine, command, { signal: 'SIGKILL', after: Math.floor(turns * share) })
        killed += Number(code === null)
        await isWhole()
        const added = filesOf(machine).filter((each) => !files.includes(each) && !isKept(each))
        left += added.length
        const old = new Date(Date.now() - 2 * 3600 * 1000)
        for (const each of added)
          for (const part of statSync(each).isDirectory() ? [each, ...readdirSync(each).map((name) => path.join(each, name))] : [each]) utimesSync(part, old, old) // prettier-ignore
        const env = { TMPDIR: temporaryOf(machine) }
        const { stdout } = await machine.run('doctor leftovers --json', { env })
        expect(
          added.filter((each) => !stdout.includes(each)),
          'not named by doctor',
        ).toEqual([])
        expect(await machine.run('doctor leftovers --fix --yes', { env })).toMatchObject({ code: 0 })
        expect(filesOf(machine).filter((each) => added.includes(each))).toEqual([])
      }
      expect(killed, 'it was killed at work').toBeGreaterThan(0)
      figures(context, `${codes.filter((code) => code === 130).length} interrupted, ${left} files left by kills`)
    },
  )
})

describe('a signal', () => {
  it('ends long work with its own exit code, and the folders that were made for it go, but no others', async () => {
    const machine = await largeMachine('sqlite')
    const top = path.join(machine.folder, 'there')
    const folder = path.join(top, 'new/deep')
    mkdirSync(top)
    await json(machine, 'backup create site.backup')
    const commands = [
      ['backup create there/new/deep/', /\.part$/, 'There is no backup.'],
      ['restore site.backup --into there/new/deep', /\.restoring-/, 'Nothing was changed.'],
      ['db copy data/feedbackctl sqlite:there/new/deep/copy.db', /\.copying-/, 'The copy was removed.'],
      ['export --csv there/new/deep/sheets', /\.part$/, 'Removed what was written of there/new/deep/sheets.'],
      ['export --static there/new/deep/copy', /\.part$/, 'Removed what was written of there/new/deep/copy.'],
    ] as const
    const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
    for (const [command, name, said] of commands)
      for (const [signal, exit] of Object.entries(signals)) {
        // A closed terminal sends SIGHUP twice
        const moment = { folder, name: name.source, signal: signal as NodeJS.Signals, isTwice: signal === 'SIGHUP' }
        const { code, stderr } = await interrupted(machine, command, moment)
        expect([command, signal, code]).toEqual([command, signal, exit])
        expect(stderr).toContain(`✗ Interrupted. ${said}\n`)
        expect([command, readdirSync(top)]).toEqual([command, []])
      }
    // A folder in which there is something else by now stays
    mkdirSync(path.join(top, 'new'))
    await interrupted(machine, commands[1][0], { folder, name: commands[1][1].source, signal: 'SIGINT' })
    expect(readdirSync(top)).toEqual(['new'])
  })

  it.for([
    ['--csv', 'posts.csv', POSTS],
    ['--static', 'sitemap.xml', 100], // three files for each
  ] as const)(
    'that kills "export %s" leaves no folder by its name, and the next one is whole',
    async ([flag, last, posts]) => {
      const machine = await largeMachine('sqlite', posts)
      const moment = { folder: machine.folder, name: '^sheets\\..*\\.part$', signal: 'SIGKILL' } as const
      expect((await interrupted(machine, `export ${flag} sheets`, moment)).code).toBe(null)
      const sheets = () => readdirSync(machine.folder).filter((name) => name.startsWith('sheets'))
      expect(sheets()).toEqual([expect.stringMatching(/\.part$/)])
      const part = path.join(machine.folder, sheets()[0] ?? '')
      expect(await machine.run('doctor leftovers')).toMatchObject({ code: 0 }) // another command may still write it
      const old = new Date(Date.now() - 2 * 3600 * 1000)
      for (const each of [
        ...readdirSync(part, { recursive: true, encoding: 'utf8' }).map((name) => path.join(part, name)),
        part,
      ])
        utimesSync(each, old, old)
      expect(await machine.run('doctor leftovers')).toMatchObject({ code: 9, stdout: expect.stringContaining(part) })
      expect(await machine.run('doctor leftovers --fix --yes')).toMatchObject({ code: 0 })
      expect(sheets()).toEqual([])
      expect((await machine.run(`export ${flag} sheets`)).code).toBe(0)
      expect(sheets()).toContain('sheets')
      const lines = readFileSync(path.join(machine.folder, 'sheets', last), 'utf8').match(
        /\n(\d|<url><loc>[^<]*\/posts\/)/g,
      )
      expect(lines).toHaveLength(posts)
    },
  )

  it('ends the comparison of "db copy --verify", and says that the copy is there', async () => {
    const machine = await largeMachine('sqlite')
    const db = await connect(machine.databaseUrl)
    const event = { action: 'vote.created', subject_id: newId(), origin: 'cli:ada', created_at: '2026-01-01T00:00:00.000Z' } // prettier-ignore
    for (let from = 0; from < 40_000; from += 1000)
      await db.insertInto('events').values(Array.from({ length: 1000 }, () => event)).execute() // prettier-ignore
    await db.destroy()
    const moment = { folder: machine.folder, name: '^copy\\.db$', signal: 'SIGINT' } as const
    const copy = `sqlite:${path.join(machine.folder, 'copy.db')}`
    const { code, stderr } = await interrupted(machine, `db copy data/feedbackctl ${copy} --verify`, moment)
    // A slow machine shows the progress before it
    expect([code, stderr.split('\n').find((line) => line.startsWith('✗'))]).toEqual([
      130,
      `✗ Interrupted. The copy is complete, but was not compared: ${copy}`,
    ])
    expect((await rowsOf({ databaseUrl: copy })).posts).toHaveLength(POSTS)
  })
})
