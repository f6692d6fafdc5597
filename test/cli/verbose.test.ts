import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('--verbose on %s', (engine) => {
  it('shows each statement, or each request, with its time, and no value or secret', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const quiet = await machine.run('posts create Title-of-it --body Text-of-it --json')
    const local = await machine.run("posts update 1 --title 'Another title' --json --verbose")
    expect([local.code, JSON.parse(local.stdout).post.title]).toEqual([0, 'Another title'])
    expect(local.stderr).toMatch(/^ *\d+\.\d ms {2}select .* from "?posts"?/m)
    expect(local.stderr).toMatch(/^ *\d+\.\d ms {2}update "posts"/m)
    expect(local.stderr).not.toContain('Another title')
    const created = await machine.run('users create eve@example.org --password-stdin --verbose', {
      stdin: 'correct horse battery',
    })
    expect([created.code, / ms {2}insert into /.test(created.stderr)]).toEqual([0, true])
    expect(created.stderr.replace(/^Created .*$/m, '')).not.toMatch(/correct horse|argon2|eve@/)
    expect(quiet.stderr).not.toContain(' ms ')
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_TOKEN: token } }
    const remote = await machine.run(`posts show 1 --verbose --server ${url}`, there)
    expect(remote.stderr).toMatch(/^ *\d+\.\d ms {2}POST http:\/\/\S+\/api\/v1\/posts\/slug 200$/m)
    expect(remote.stderr).not.toContain(token)
    const missing = await machine.run(`posts show 99 --verbose --server ${url}`, there)
    expect(missing.stderr).toMatch(/ms {2}POST \S+ 404$/m)
    await server.stop()
    const gone = await machine.run(`posts show 1 --verbose --server ${url}`, there)
    expect([gone.code, / ms {2}POST \S+ failed$/m.test(gone.stderr)]).toEqual([6, true])
  })
})
