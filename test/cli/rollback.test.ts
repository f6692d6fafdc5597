import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { MERGED, SHOWN } from '../../src/core/hidden.js'
import { newId } from '../../src/core/ids.js'
import { connect } from '../../src/db/connect.js'
import { NEWEST, newestApplied } from '../../src/db/schema.js'
import { backupsOf, json, makeOlder } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

const OLD = '0020_own_comments'
const AT = '2026-01-01T00:00:00.000Z'

async function stateOf({ databaseUrl }: Pick<Machine, 'databaseUrl'>) {
  const db = await connect(databaseUrl)
  const { title } = await db.selectFrom('settings').select('title').executeTakeFirstOrThrow()
  const schema = await newestApplied(db)
  await db.destroy()
  return { title, schema }
}

describe.each(engines)('an upgrade on %s', (engine) => {
  const upgrade = (machine: Machine) => machine.run(engine === 'postgres' ? 'migrate' : 'settings show')

  it('is taken back, and what was there since is kept', async () => {
    const machine = await makeMachine(engine)
    expect(await machine.run('rollback --yes')).toMatchObject({ code: 3 })
    await makeOlder(machine, OLD, 'Before')
    const dry = await json(machine, 'migrate --dry-run')
    expect(dry).toMatchObject({ applied: expect.arrayContaining([NEWEST]), kept: expect.stringContaining('before-upgrade-') }) // prettier-ignore
    expect(existsSync(dry.kept)).toBe(false)
    expect(await machine.run('rollback --yes')).toMatchObject({ code: 3, stderr: expect.stringContaining('BACKUP_NOT_FOUND') }) // prettier-ignore
    expect(await upgrade(machine)).toMatchObject({ code: 0 })
    const after = await makeAfter(machine)
    expect(await stateOf(machine)).toEqual(after)

    const server = machine.start('serve')
    await server.says(/listening on/)
    expect(await machine.run('rollback --yes')).toMatchObject({ code: 5, stderr: expect.stringContaining('DATABASE_IN_USE') }) // prettier-ignore
    await server.stop()
    expect(await machine.run('rollback')).toMatchObject({ code: 5, stderr: expect.stringContaining('CONFIRMATION_NEEDED') }) // prettier-ignore
    expect(await json(machine, 'rollback --dry-run')).toMatchObject({ schema: OLD, from: NEWEST })
    expect((await machine.run('rollback --dry-run -q')).stderr).toMatch(
      /^Would keep the present database(: \S+| as a backup in backup\.dir)\.\nWould put back the database of 2\S+, with schema \w+ in place of \w+\.\n$/,
    )
    expect(await stateOf(machine)).toEqual(after)

    const { kept } = await json(machine, 'rollback --yes')
    expect(await stateOf(machine)).toEqual({ title: 'Before', schema: OLD })
    if (engine === 'postgres') await json(machine, `restore ${kept} --yes`)
    expect(await stateOf(engine === 'postgres' ? machine : { databaseUrl: `sqlite:${kept}` })).toEqual(after)

    // This version updates it again, and takes that back too
    if (engine === 'postgres') await machine.run('rollback --yes')
    expect(await upgrade(machine)).toMatchObject({ code: 0 })
    expect(await stateOf(machine)).toEqual({ title: 'Before', schema: NEWEST })
  })

  it('is taken back to a schema in which no held post can be merged, and the words of merged posts are found', async () => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, '0079_notes_index', 'Before')
    const db = await connect(machine.databaseUrl)
    const ids = [newId(), newId()] as const
    for (const [at, postId] of ids.entries())
      await db
        .insertInto('posts')
        .values({
          postId,
          title: `Wish ${at}`,
          slug: `wish-${at}`,
          slugId: `${at}`,
          contentMarkdown: null,
          userId: null,
          boardId: null,
          roadmap_id: null,
          createdAt: AT,
          updatedAt: AT,
          is_spam: at === 1 ? MERGED : SHOWN,
        }) // prettier-ignore
        .execute()
    const [intoId, postId] = ids
    await db
      .insertInto('merges')
      .values({ postId, intoId, rootId: intoId, answerId: null, mergedAt: AT, mergedBy: null })
      .execute()
    await db.destroy()
    expect(await upgrade(machine)).toMatchObject({ code: 0 })
    expect(await machine.run('rollback --yes')).toMatchObject({ code: 0 })
    expect(await stateOf(machine)).toEqual({ title: 'Before', schema: '0079_notes_index' })
    expect(await upgrade(machine)).toMatchObject({ code: 0 })
    expect(await json(machine, 'posts merged 1')).toMatchObject({ merged: [{ title: 'Wish 1' }] })
  })

  const makeAfter = async (machine: Machine) => {
    const db = await connect(machine.databaseUrl)
    await db.updateTable('settings').set({ title: 'After' }).execute()
    await db.destroy()
    return { title: 'After', schema: NEWEST }
  }

  it('keeps nothing with --no-backup', async () => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, OLD, 'Before')
    const folder =
      engine === 'postgres' ? backupsOf(machine) : path.dirname(machine.databaseUrl.slice('sqlite:'.length))
    const names = () =>
      (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.includes('before-upgrade-'))
    expect((await json(machine, 'migrate --no-backup')).kept).toBe(null)
    expect(names()).toEqual([])
    expect((await json(machine, 'migrate')).kept).toBe(null) // nothing is applied
  })
})

describe('an upgrade that nobody asked for', () => {
  it('is told once on SQLite, with where the copy is', async () => {
    const machine = await makeMachine('sqlite')
    await makeOlder(machine, OLD, 'Before')
    const { stdout, stderr } = await machine.run('settings show --json')
    expect(JSON.parse(stdout)).toMatchObject({ settings: { title: 'Before' } })
    expect(stderr).toMatch(new RegExp(`^Updated the database to schema ${NEWEST}\\. .*\nKept .*: (\\S+Z)\n$`))
    expect(existsSync(/: (\S+Z)\n/.exec(stderr)?.[1] ?? '')).toBe(true)
    expect((await machine.run('settings show --json')).stderr).toBe('')
    const other = await makeMachine('sqlite')
    await makeOlder(other, OLD, 'Before')
    const server = other.start('serve')
    await server.says(/listening on/)
    expect(server.output().stderr).toMatch(/"kept":"[^"]*before-upgrade-[^"]*Z","msg":"updated the database/)
  })

  it('of serve --migrate on PostgreSQL is logged, or refused with what to do where nothing can be kept', async () => {
    const machine = await makeMachine('postgres')
    await makeOlder(machine, OLD, 'Before')
    const refused = await machine.run('serve --migrate', { env: { FEEDBACKCTL_BACKUP_DIR: '/proc/none' } })
    expect(refused.stderr).toMatch(/backup\.dir[^]*migrate --no-backup[^]*BACKUP_FAILED/)
    expect(refused.code).toBe(1)
    expect(await stateOf(machine)).toEqual({ title: 'Before', schema: OLD })
    const server = machine.start('serve --migrate')
    await server.says(/listening on/)
    expect(server.output().stderr).toMatch(/"kept":"[^"]*before-upgrade-[^"]*\.backup","msg":"updated the database/)
  })
})

it('keeps the last three copies beside a SQLite file', async () => {
  const machine = await makeMachine('sqlite')
  const { keepBeforeUpgrade } = await import('../../src/backup/upgrade.js')
  await makeOlder(machine, OLD, 'Before')
  const config = { get: () => machine.databaseUrl } as never
  for (const second of [1, 2, 3, 4, 5])
    await keepBeforeUpgrade(config, { version: '', now: new Date(Date.UTC(2026, 0, 1, 0, 0, second)) })
  const names = readdirSync(path.dirname(machine.databaseUrl.slice('sqlite:'.length)))
  expect(names.filter((name) => name.includes('.before-')).toSorted()).toEqual(
    [3, 4, 5].map((second) => `feedback.db.before-upgrade-20260101T00000${second}Z`),
  )
})
