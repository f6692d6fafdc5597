import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { PNG } from '../support/images.js'
import { ASTUTO_API, AT, CANNY, CLEARFLASK, FIDER, FIDER_API, GITHUB, QUACKBACK, USERVOICE } from '../support/rivals.js'
import { zipOf } from '../support/zip.js'

interface Balance {
  type: string
  found: number
  created: number
  failed: number
}

/** Imports what a product exports, twice: the second time nothing is created. Returns what was created, by type. */
async function imported(machine: Machine, args: string) {
  const run = async () => {
    const { code, stdout, stderr } = await machine.run(`import ${args} --yes --json`)
    const { balance } = JSON.parse(stdout) as { balance: Balance[] }
    return { code, stderr, balance }
  }
  const { balance: expected } = JSON.parse((await machine.run(`import ${args} --dry-run --json`)).stdout)
  const first = await run()
  expect(first.balance).toEqual(expected)
  expect([first.stderr, first.balance.filter(({ failed }) => failed > 0)]).toEqual([first.stderr, []])
  const again = await run()
  expect([first.code, again.code, again.balance.filter(({ created }) => created > 0)]).toEqual([0, 0, []])
  return { created: Object.fromEntries(first.balance.map(({ type, created }) => [type, created])), notes: first.stderr }
}

async function makeWorld(files: Readonly<Record<string, string | Buffer | object>>) {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(machine.folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  }
  const json = async (command: string) => JSON.parse((await machine.run(`${command} --json`)).stdout)
  const posts = async () => (await json('posts list --sort oldest')).posts
  const comments = async () => (await json('comments list --created asc')).activity
  return { machine, json, posts, comments }
}

it('Canny: its pages of posts, votes and comments, with votes of deleted people as a number', async () => {
  const { machine, posts, comments } = await makeWorld(CANNY)
  const { created, notes } = await imported(machine, 'canny canny')
  expect(created).toEqual({ board: 1, status: 1, tag: 2, person: 2, post: 2, vote: 1, comment: 2, merge: 1 })
  expect(notes).toContain('changelog are not imported')
  expect(await posts()).toMatchObject([
    { title: 'Dark mode', createdAt: AT, author: { name: 'Ann' }, roadmap: { name: 'complete' }, contentMarkdown: 'Eyes\n\n![](https://canny.example/1.png)', tags: [{ name: 'App' }, { name: 'UI' }], voters: { votesCount: 4, importedVotes: 3 } }, // prettier-ignore
  ])
  expect((await comments()).map(({ comment }: { comment: { body: string; is_internal: boolean } }) => [comment.body, comment.is_internal])).toEqual([['First', false], ['Reply', true]]) // prettier-ignore
})

it('Fider: its backup without the secrets in it, and the CSV of its posts', async () => {
  const { machine, posts, comments } = await makeWorld(FIDER)
  const { created, notes } = await imported(machine, 'fider backup.zip')
  expect(created).toEqual({ status: 1, tag: 1, person: 2, image: 1, post: 2, vote: 2, comment: 2, merge: 1 })
  expect(notes).toMatch(/secrets, which are not imported: oauth_providers.json, API keys/)
  expect(notes).not.toContain('SECRET')
  expect(notes).toMatch(/archive does not have: 1\.[^]*pictures of people, are not imported: 1\./)
  const [dark] = await posts()
  expect(dark).toMatchObject({ title: 'Dark mode', contentMarkdown: expect.stringMatching(/^For @Bob !\[two words\]\(https?:\S+\/api\/v1\/images\/[^\s/]+-2x1\.webp\)$/), roadmap: { name: 'Completed' }, tags: [{ name: 'UI', display: false }], voters: { votesCount: 2 } }) // prettier-ignore
  expect((await comments()).map(({ comment }: { comment: { body: string; is_update?: boolean } }) => [comment.body, comment.is_update])).toEqual([['Yes', undefined], ['Shipped!', true]]) // prettier-ignore
  expect((await imported(machine, 'fider posts.csv')).created).toEqual({ tag: 2, person: 1, post: 1 })
})

it('Fider: images of attachments, of which none is written to a disk or taken from outside the archive', async () => {
  const post = (id: number, description: string) => ({ id, number: id, title: `Post ${id}`, description, status: 0 })
  const files = (blobs: Readonly<Record<string, string | Buffer>>) =>
    zipOf({
      'posts.json': JSON.stringify([
        post(1, 'Two ![one](fider-image:attachments/one.png) ![one](fider-image:attachments/one.png)'),
        post(2, '![up](fider-image:../../etc/passwd) ![](fider-image:)'),
      ]),
      'comments.json': JSON.stringify([
        { id: 5, content: '', post_id: 1, is_approved: true },
        { id: 6, content: '![](fider-image:attachments/gone.png)', post_id: 1, is_approved: true },
        { id: 7, content: '  ', post_id: 1, is_approved: true },
        { id: 8, content: '![](fider-image:)', post_id: 1, is_approved: true },
      ]),
      'attachments.json': JSON.stringify([
        { post_id: 1, attachment_bkey: 'attachments/one.png' },
        { post_id: 1, attachment_bkey: 'attachments/two (2).png' },
        { post_id: 1, comment_id: 5, attachment_bkey: 'attachments/one.png' },
        { post_id: 2, attachment_bkey: 'attachments/vector.svg' },
        { post_id: 2, attachment_bkey: 'posts.json' },
      ]),
      ...blobs,
    })
  const { machine, posts, comments } = await makeWorld({
    'a.zip': files({
      'blobs/attachments/one.png': PNG,
      'blobs/attachments/two (2).png': PNG,
      'blobs/attachments/vector.svg': '<svg onload="alert(1)"/>',
    }),
    'b.zip': files({ 'blobs/../../x': PNG }),
  })
  const { code, stdout, stderr } = await machine.run('import fider a.zip --yes --rejects refused.jsonl --json')
  expect([code, JSON.parse(stdout).balance]).toEqual([
    7,
    [
      { type: 'image', found: 3, created: 2, matched: 0, existing: 0, failed: 1 },
      { type: 'post', found: 2, created: 2, matched: 0, existing: 0, failed: 0 },
      { type: 'comment', found: 2, created: 1, matched: 0, existing: 0, failed: 1 },
    ],
  ])
  expect(stderr).toContain('The comment has nothing but images, and the import does not have them.')
  expect(stderr).toContain('image "attachments/vector.svg": This is no image, or it is damaged.')
  expect(JSON.parse(readFileSync(path.join(machine.folder, 'refused.jsonl'), 'utf8'))).toMatchObject({ type: 'comment', sourceId: '6' }) // prettier-ignore
  const image = String.raw`\(http\S+?-2x1\.webp\)`
  expect(await posts()).toMatchObject([
    {
      contentMarkdown: expect.stringMatching(
        new RegExp(`^Two !\\[one\\]${image} !\\[one\\]${image}\n\n!\\[\\]${image}$`),
      ),
    },
    { contentMarkdown: 'up' },
  ])
  expect((await comments()).map(({ comment }: { comment: { body: string } }) => comment.body)).toEqual([expect.stringMatching(new RegExp(`^!\\[\\]${image}$`))]) // prettier-ignore
  expect((await machine.run('import fider b.zip --yes')).stderr).toContain('ZIP archive cannot be read')
})

it('Fider: the answers of its API, with voters where they were saved', async () => {
  const { machine, posts, comments } = await makeWorld({ ...FIDER, ...FIDER_API })
  expect((await machine.run('import ./fider --dry-run')).stderr).toContain('this is "import fider"')
  const { created, notes } = await imported(machine, 'fider fider')
  expect(created).toEqual({ person: 2, status: 1, tag: 1, post: 2, vote: 2, comment: 2, merge: 1 })
  expect(notes).toContain('not have all comments of #2.')
  expect(notes).toContain('Images that texts show, but only the backup of Fider has: 2.')
  expect(await posts()).toMatchObject([{ title: 'Dark mode', createdAt: AT, contentMarkdown: 'For @Bob two words', author: { name: 'Ann' }, roadmap: { name: 'Completed' }, tags: [{ name: 'UI', display: false }], voters: { votesCount: 3, importedVotes: 1 } }]) // prettier-ignore
  expect((await comments()).map(({ comment }: { comment: { body: string; is_update?: boolean } }) => [comment.body, comment.is_update])).toEqual([['Yes', undefined], ['Shipped!', true]]) // prettier-ignore
  // Its backup has the same ids, and a vote that was not saved
  const later = await machine.run('import fider backup.zip --yes')
  expect([later.code, later.stdout.match(/^\w+\t\d+\t[1-9].*$/gm)]).toEqual([
    0,
    ['image\t1\t1\t0\t0\t0', 'vote\t2\t1\t0\t1\t0'],
  ])
  expect((await posts())[0].contentMarkdown).toMatch(/^For @Bob !\[two words\]\(https?:\S+-2x1\.webp\)$/)
})

it('Astuto: the answers of its API, of approved posts', async () => {
  const { machine, posts, comments } = await makeWorld(ASTUTO_API)
  expect((await machine.run('import ./astuto --dry-run')).stderr).toContain('this is "import astuto"')
  const { created, notes } = await imported(machine, 'astuto astuto')
  expect(created).toEqual({ board: 2, status: 1, person: 2, post: 2, vote: 2, comment: 1 })
  expect(notes).toMatch(/not approved are not imported: 1\.[^]*which comment answers which/)
  expect(await posts()).toMatchObject([{ title: 'Dark mode', createdAt: AT, author: { name: 'Ann' }, board: { url: 'our-ideas', name: 'Ideas' }, roadmap: { name: 'In progress' }, voters: { votesCount: 2 } }, { title: 'Of nobody', voters: { votesCount: 0 } }]) // prettier-ignore
  expect(await comments()).toMatchObject([{ comment: { body: 'We began', is_update: true } }])
})

it('GitHub: issues with reactions as imported votes, not pull requests', async () => {
  const { machine, posts, comments } = await makeWorld(GITHUB)
  const { created } = await imported(machine, 'github gh')
  expect(created).toEqual({ status: 2, tag: 1, person: 2, post: 2, comment: 1 })
  expect(await posts()).toMatchObject([{ title: 'Dark mode', roadmap: { name: 'Done' }, author: { name: 'ann' }, voters: { votesCount: 31, importedVotes: 31 } }, { title: 'Later', roadmap: { name: 'v2' } }]) // prettier-ignore
  expect((await comments()).map(({ comment }: { comment: { body: string } }) => comment.body)).toEqual(['+1 ![Shot](https://github.example/a%281%29.png) `<img src=x>`']) // prettier-ignore
})

const at = (n: number) => `https://github.com/o/r/discussions/${n}`

it('GitHub: discussions of GraphQL, whose pages follow each other, beside issues', async () => {
  const page = (nodes: object[]) => JSON.stringify({ data: { repository: { discussions: { pageInfo: { hasNextPage: false, endCursor: null }, nodes } } } }) // prettier-ignore
  const ann = { login: 'Ann' } // without its number, which the issue has
  const comment = (n: number, more: object) => ({ databaseId: n, url: `${at(40)}#discussioncomment-${n}`, body: `Text ${n}`, createdAt: AT, author: { login: 'bob', databaseId: 8 }, ...more }) // prettier-ignore
  const dark = { number: 40, title: 'Dark "mode" }', body: 'Please {', url: at(40), createdAt: AT, upvoteCount: 31, author: ann, closed: false, answer: { databaseId: 502 }, category: { name: '💡 Ideas & more', slug: 'ideas-more', emoji: ':bulb:' }, labels: { nodes: [{ name: 'ui', color: '00ff00' }] }, comments: { totalCount: 4, nodes: [comment(501, { replies: { nodes: [comment(503, { author: ann })] } }), comment(502, { isAnswer: true, author: null }), comment(504, { isMinimized: true, minimizedReason: 'spam', replies: { nodes: [comment(505, {})] } })] } } // prettier-ignore
  const none = { number: 41, title: 'Later', body: '', url: at(41), createdAt: AT, upvoteCount: 1, author: null, closed: true, stateReason: 'OUTDATED', category: { name: 'Ideas', slug: 'ideas' } } // prettier-ignore
  const { machine, posts, comments, json } = await makeWorld({
    'gh/discussions.json': page([dark]) + page([none, { ...none, number: 42, stateReason: 'RESOLVED' }]),
    'gh/issues.json': [{ number: 12, title: 'Broken', user: { id: 7, login: 'ann' }, state: 'open', created_at: AT, html_url: 'https://github.com/o/r/issues/12' }], // prettier-ignore
  })
  const { created, notes } = await imported(machine, 'github gh')
  expect(created).toEqual({ board: 2, status: 3, tag: 1, person: 2, post: 4, comment: 4 })
  expect(notes).toContain('hidden as spam or abuse are not imported: 1.')
  expect(notes).toContain('not have all comments of 1 discussion: #40.')
  expect(await posts()).toMatchObject([
    { title: 'Broken', author: { name: 'ann' } },
    { title: 'Dark "mode" }', createdAt: AT, author: { name: 'ann' }, board: { name: '💡 Ideas & more', url: 'ideas-more' }, roadmap: { name: 'Answered' }, tags: [{ name: 'ui' }], voters: { votesCount: 31, importedVotes: 31 } }, // prettier-ignore
    { title: 'Later', board: { name: 'Ideas' }, roadmap: { name: 'Declined' } },
    { title: 'Later', roadmap: { name: 'Done' } },
  ])
  const thread = (await comments()).map(({ comment: { body, parent_id: parent, is_answer: isAnswer } }: { comment: Record<string, unknown> }) => [body, parent !== null, isAnswer]) // prettier-ignore
  expect(thread).toEqual([['Text 501', false, undefined], ['Text 503', true, undefined], ['Text 502', false, true], ['Text 505', false, undefined]]) // prettier-ignore
  expect((await json('doctor')).checks.filter(({ severity }: { severity: string }) => severity !== 'ok')).toEqual([])
  // Pages of one discussion, saved later, bring its further comments
  writeFileSync(path.join(machine.folder, 'gh/more.json'), JSON.stringify({ data: { repository: { discussion: { number: 40, comments: { nodes: [comment(506, {})] } } } } })) // prettier-ignore
  const later = await machine.run('import github gh --yes')
  expect([later.code, later.stdout, later.stderr]).toEqual([0, expect.stringMatching(/^comment\t5\t1\t0\t4\t0$/m), expect.not.stringContaining('#40')]) // prettier-ignore
})

it('GitHub: discussions of REST, with comments in files of their own', async () => {
  const user = { id: 7, login: 'ann' }
  const dark = { id: 9001, number: 40, title: 'Dark mode', body: 'Please', html_url: at(40), url: 'https://api.github.com/repos/o/r/discussions/40', user, state: 'open', state_reason: null, answer_html_url: `${at(40)}#discussioncomment-502`, answer_chosen_at: AT, category: { id: 1, name: 'Q&A', slug: 'q-a', is_answerable: true }, comments: 2, reactions: { '+1': 3 }, created_at: AT } // prettier-ignore
  const comment = (n: number, more: object) => ({ id: n, node_id: `DC_${n}`, html_url: `${at(40)}#discussioncomment-${n}`, discussion_id: 9001, parent_id: null, user, body: `Text ${n}`, created_at: AT, ...more }) // prettier-ignore
  const { machine, posts, comments } = await makeWorld({
    // As older versions of gh write the pages of lists
    'gh/discussions.json': `${JSON.stringify([dark])}${JSON.stringify([{ ...dark, id: 9002, number: 41, html_url: at(41), state: 'closed', comments: 1 }])}`, // prettier-ignore
    'gh/comments-40.json': [comment(503, { parent_id: 502, created_at: '2023-06-01T00:00:00Z' }), comment(502, {})],
  })
  const { created, notes } = await imported(machine, 'github gh')
  expect(created).toEqual({ board: 1, status: 2, person: 1, post: 2, comment: 2 })
  expect(notes).toContain('not have all comments of 1 discussion: #41.')
  expect(await posts()).toMatchObject([{ board: { name: 'Q&A', url: 'q-a' }, roadmap: { name: 'Answered' }, voters: { importedVotes: 3 } }, { roadmap: { name: 'Done' } }]) // prettier-ignore
  expect((await comments()).map(({ comment: { body, parent_id: parent, is_answer: isAnswer } }: { comment: Record<string, unknown> }) => [body, parent !== null, isAnswer])).toEqual([['Text 502', false, true], ['Text 503', true, undefined]]) // prettier-ignore
  for (const [name, content, words] of [
    ['two.json', [dark, { ...dark, html_url: 'https://github.com/o/other/discussions/40' }], 'several repositories, whose numbers are the same: o/r, o/other'], // prettier-ignore
    ['errors.json', { errors: [{ message: 'Bad credentials.' }] }, 'GitHub says: Bad credentials.'],
    ['none.json', { data: { repository: { discussions: { nodes: [] } } } }, 'No issues or discussions'],
    ['partial.json', [dark, { data: { repository: null }, errors: [{ message: 'Bad credentials.' }] }], 'says: Bad credentials. Save it again.'], // prettier-ignore
  ] as const) {
    writeFileSync(path.join(machine.folder, name), JSON.stringify(content))
    const { code, stderr } = await machine.run(`import github ${name} --yes`)
    expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(words)])
  }
})

it('UserVoice: a row for each voter', async () => {
  const { machine, posts } = await makeWorld(USERVOICE)
  const { created } = await imported(machine, 'uservoice ideas.csv')
  expect(created).toEqual({ board: 1, status: 1, tag: 3, person: 3, post: 1, vote: 2, comment: 1 })
  expect(await posts()).toMatchObject([{ contentMarkdown: 'Eyes', createdAt: AT, voters: { votesCount: 5, importedVotes: 3 } }]) // prettier-ignore
})

it('Quackback and ClearFlask: the archives of their CSV', async () => {
  const { machine, posts, json } = await makeWorld({ 'q.zip': QUACKBACK, 'c.zip': CLEARFLASK })
  const first = await imported(machine, 'quackback q.zip')
  expect(first.created).toEqual({ board: 1, status: 1, tag: 2, person: 3, post: 1, vote: 2, comment: 1 })
  expect(first.notes).toContain('changelog.csv')
  const second = await imported(machine, 'clearflask c.zip')
  expect(second.created).toEqual({ board: 1, status: 1, tag: 1, person: 1, post: 1, comment: 1 })
  expect(await posts()).toMatchObject([{ title: 'Dark mode', voters: { votesCount: 4, importedVotes: 2 } }, { title: 'Light mode', contentMarkdown: '**Bold**', voters: { votesCount: 9 } }]) // prettier-ignore
  expect((await json('doctor')).checks.filter(({ severity }: { severity: string }) => severity !== 'ok')).toEqual([])
})

it('what is no export of the product is refused, and nothing is changed', async () => {
  const { machine, posts } = await makeWorld({
    'no.zip': 'PK nothing',
    'bomb.zip': zipOf({ 'posts.json': '[]' }, 4_100_000_000),
    'lies.zip': zipOf({ 'users.json': '[]', 'posts.json': '[{"id":1}]' }, 1_000_000),
    'path.zip': zipOf({ 'posts.json': '[]', '../../evil.json': '[]' }),
    'array.zip': zipOf({ 'posts.json': '{"a":1}' }),
    'empty/x.txt': '',
    'text.json': 'no json',
    'other.csv': 'a,b\n1,2\n',
  })
  const refused = async (args: string) => {
    const { code, stderr } = await machine.run(`import ${args} --yes`)
    return [code, stderr.split('\n')[0]]
  }
  for (const args of [
    'fider no.zip',
    'fider bomb.zip',
    'fider lies.zip',
    'fider array.zip',
    'fider path.zip',
    'quackback no.zip',
    'canny empty',
    'github text.json',
    'uservoice other.csv',
  ])
    // prettier-ignore
    expect([args, ...(await refused(args))]).toEqual([args, 2, expect.stringMatching(/^✗ /)])
  expect(await posts()).toEqual([])
})
