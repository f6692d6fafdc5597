import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as notifications from '../../src/service/notifications.js'
import * as posts from '../../src/service/posts.js'
import { newsSite, type NewsSite } from '../support/newssite.js'
import { engines } from '../support/site.js'

/** What the notification of the merge says of the merged post, in the list and alone. */
async function mergedIn(w: NewsSite, one: { token: string }) {
  const { notifications: rows } = await w.as(one)(notifications.list, {})
  const row = rows.find(({ kind }) => kind === 'merged')
  const { notification } = await w.as(one)(notifications.show, { id: row?.id ?? 0 })
  expect(notification).toEqual(row)
  return row?.merged
}

const mailTo = async (w: NewsSite, recipient: string) => {
  const mail = (await w.mails()).find((each) => each.recipient === recipient)
  return { subject: mail?.subject ?? '', text: mail?.text ?? '', html: mail?.html ?? '' }
}

describe.each(engines)('news of a merge on %s', (engine) => {
  it('name the post that was merged', async () => {
    const w = await newsSite(engine)
    await w.mergeIt()
    const { text, html } = await mailTo(w, 'bea@example.org')
    expect(await mergedIn(w, w.bea)).toEqual({ postId: w.post.postId, number: w.post.number, title: 'Dark mode', slug: w.post.slug }) // prettier-ignore
    const sentence = `“Dark mode” (#${w.post.number}), which you followed, is merged with this one`
    expect(text).toContain(`* ${sentence}\n`)
    expect(html).toContain(sentence)
  })

  it('name it to those alone who may read it by now', async () => {
    const w = await newsSite(engine)
    const eve = await w.person('eve@example.org', ['board:read'])
    await w.as(eve)(follows.follow, { post_id: w.post.postId })
    const { post: into } = await w.site.call(posts.create, { title: 'Night theme' }) // on no board
    await w.site.call(merges.merge, { ids: [w.post.postId], into: into.postId })
    await w.tell()
    expect(await mergedIn(w, w.bea)).toMatchObject({ title: 'Dark mode' })
    await w.site.call(boards.update, { ...w.board, display: false })
    expect(await mergedIn(w, eve)).toMatchObject({ title: 'Dark mode' })
    expect(await mergedIn(w, w.bea)).toBeUndefined()
    const mails = await w.mails()
    const of = (address: string) => mails.find(({ recipient }) => recipient === address)
    expect(of('eve@example.org')?.text).toContain('“Dark mode” (#')
    const bea = of('bea@example.org')
    expect(bea?.text).toContain('* A post that you followed is merged with this one\n')
    expect(`${bea?.subject}${bea?.text}${bea?.html}`).not.toContain('Dark mode')
  })

  it('do not name a post that is gone', async () => {
    const w = await newsSite(engine)
    await w.mergeIt()
    await w.tell()
    await w.site.db.deleteFrom('merges').where('postId', '=', w.post.postId).execute()
    await w.site.db.deleteFrom('posts').where('postId', '=', w.post.postId).execute()
    expect(await mergedIn(w, w.bea)).toBeUndefined()
    expect((await mailTo(w, 'bea@example.org')).text).toContain('A post that you followed is merged with this one')
  })

  it.each([
    ['marks of HTML', '<img src=x onerror=alert(1)> & "quotes"', '<img src=x onerror=alert(1)> &'],
    ['letters that turn the direction', 'Dark \u202Eedom', 'Dark'],
    ['many characters', 'ab '.repeat(34).trim().slice(0, 100), 'ab '.repeat(33)],
    ['marks of a template', '{title} {number}', '{title} {number}'],
  ])('name a title of %s safely', async (_name, title, start) => {
    const w = await newsSite(engine)
    await w.site.call(posts.update, { id: w.post.postId, title, partial: true })
    await w.mergeIt()
    const { subject, text, html } = await mailTo(w, 'bea@example.org')
    expect(text).toContain(`* “${start}`)
    expect(text).toContain(`(#${w.post.number}), which you followed`)
    expect(subject).toMatch(/^[^\r\n]*$/)
    expect(html).not.toContain('<img src=x')
    expect(`${subject}${text}${html}`).not.toMatch(/[\u202A-\u202E]/)
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(250)
    expect((await mergedIn(w, w.bea))?.postId).toBe(w.post.postId)
  })
})
