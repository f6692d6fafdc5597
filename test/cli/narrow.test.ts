import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

const plain = (text: string) => stripVTControlCharacters(text).split('\r\n')

it.each([80, 60])('a table of %i columns has what the next command needs, and the marks', async (columns) => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const run = async (args: string) => expect(await machine.run(args)).toMatchObject({ code: 0 })
  const url = 'a-url-as-long-as-one-can-be-which-is-fifty-chars-x'
  await run("roles create 'A role with quite a long name' --description 'Looks after what the others have written'")
  await run(`boards create 'A board with a name of nearly fifty characters ok' --url ${url} --display false`)
  await run("keys create 'Nightly import of all there is' --permissions post:create,post:update")
  await run(`posts create 'A title that is longer than a column of a table' --body x`)
  await run(`comments create 1 --internal true --body 'A text that is longer than a column of a table'`)

  async function lines(args: string): Promise<string[]> {
    const { code, text } = await machine.terminal(args, { columns }).ended
    const all = plain(text)
    expect([args, code, all.filter((line) => line.length > columns)]).toEqual([args, 0, []])
    return all
  }
  /** The last cell of the row with this word. */
  const named = (all: string[], word: string) =>
    all
      .find((line) => line.includes(word))
      ?.trim()
      .split(/ {2,}/) ?? []

  const role = named(await lines('roles list'), 'A role').at(-1)
  await run(`roles update ${role} --description Short`)
  const board = await lines('boards list')
  expect(board[1]).toContain('private')
  const handle = named(board, 'private')[1] ?? ''
  await run(`boards update ${handle} --color 1d4ed8`)
  const keys = await lines('keys list')
  expect(keys[0]).toContain('USER')
  expect(keys[0]?.includes('PERMISSIONS')).toBe(columns === 80)
  await run(`keys revoke ${named(keys, 'Nightly').at(-1)} --dry-run`)
  const comments = await lines('comments list 1')
  expect(comments[1]).toContain('internal')
  await run(`comments update ${named(comments, 'A text').at(-1)} --spam true`)
  expect((await lines('config list --show-origin'))[0]).toMatch(/KEY +VALUE +ORIGIN/)
})

it('an empty list says so on a terminal, and nothing in a pipe', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const args of [
    'boards list',
    'keys list',
    'events list --action board.created',
    'boards search x',
    'boards list --all',
  ]) {
    expect(await machine.run(args)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await machine.terminal(args).ended).text).toMatch(/^(Nothing found|No board has).*\.\s*$/)
    expect((await machine.run(`${args} --fields`)).stdout).not.toBe('')
    expect((await machine.run(`${args} --json`)).stdout).toMatch(/^\{"(boards|keys|events)":\[\]/)
  }
  expect(await machine.run('boards list --fields name')).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
})

it.each([80, 60])('an error breaks between words in %i columns, and its commands do not', async (columns) => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const env = { NO_COLOR: '1' }
  const line = 'boards create Ideas --color xyz --url "not a url at all, and long enough for the second line"'
  const { text } = await machine.terminal(line, { columns, env }).ended
  const whole = (await machine.run(line)).stderr
  const lines = text.trimEnd().split(/\r?\n/)
  expect(lines[0]).toMatch(/^✗ /)
  expect(lines.filter((each) => each.length > columns)).toEqual([])
  expect(lines[1]).toMatch(/^ {2}\S/)
  expect(text.split(/\s+/)).toEqual(whole.split(/\s+/))
  const missing = await machine.terminal('posts list --board nope --data-dir a-folder-with-a-name-of-some-length-that-does-not-fit', { columns, env }).ended // prettier-ignore
  expect(missing.text).toMatch(
    /fix {3}feedbackctl setup --data-dir a-folder-with-a-name-of-some-length-that-does-not-fit/,
  )
})

it.each([80, 60])('a card and a sentence break between words in %i columns', async (columns) => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const words = 'A title of many words that goes on and on until no line of a terminal has any room left for it'
  expect(await machine.run(`boards create 'Ideas for all that we make' --url ideas`)).toMatchObject({ code: 0 })
  const { text } = await machine.terminal(`posts create '${words}' --board ideas --body '${words}'`, { columns }).ended
  const card = await machine.terminal('posts show 1', { columns }).ended
  for (const shown of [text, card.text]) {
    const lines = plain(shown).filter((line) => !/^(SLUG|ID) /.test(line))
    expect(lines.filter((line) => line.length > columns)).toEqual([])
    expect(shown.replaceAll(/\s+/g, ' ')).toContain(words)
  }
  expect(card.text).not.toContain('MARKS')
  const value = plain(card.text).findIndex((line) => line.startsWith('TITLE'))
  const column = plain(card.text)[value]?.indexOf('A title')
  expect(plain(card.text)[value + 1]?.search(/\S/)).toBe(column)
  const whoami = await machine.terminal('whoami', { columns }).ended
  expect(plain(whoami.text).filter((line) => line.length > columns)).toEqual([])
})

it('commands and sentences stay whole where a line is too short for them', async () => {
  const machine = await makeMachine('sqlite')
  const bare = await machine.terminal('', { columns: 60 }).ended
  expect(bare.text.split(/\r?\n/).filter((line) => line.length > 60)).toEqual([])
  expect(bare.text).toContain('"feedbackctl setup"')
  await machine.setup()
  await machine.run('boards create - -q', { stdin: 'One\nTwo\n' })
  const list = await machine.terminal('boards list --visibility public,private --limit 1', { columns: 60 }).ended
  expect(list.text).toMatch(
    /Page 1 of 2 · 1 of 2 · next:\r?\n {2}feedbackctl boards list --visibility public,private --limit 1 --page 2\r?\n/,
  )
})
