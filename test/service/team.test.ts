import { describe, expect, it } from 'vitest'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite } from '../support/site.js'

describe.each(engines)('who is of the team on %s', (engine) => {
  it('is said beside the names on a post, in lists of posts, on its comments and its votes, and on the profile, as long as they hold it', async () => {
    const site = await makeSite(engine, { rates: {} })
    const owner = await site.owner()
    const team = await site.member(['dashboard:read'])
    const helper = await site.member(['comment:view_internal'])
    const eve = await site.member([])
    const { body } = await site.http('POST /posts', { token: eve.token, body: { title: 'Dark mode' } })
    const { postId } = body.post
    const people = [owner, team.token, helper.token, eve.token]
    for (const token of people) await site.http(`POST /posts/${postId}/comments`, { token, body: { body: 'Yes' } })
    for (const token of people.slice(0, 3)) await site.http('POST /votes', { token, body: { postId } })

    const marksOf = (people: { userId: string; isTeam?: boolean }[]) =>
      people.flatMap(({ userId, isTeam }) => (isTeam ? [userId] : [])).toSorted((one, other) => (one < other ? -1 : 1))
    const comments = async () =>
      marksOf((await site.http(`GET /posts/${postId}/activity`)).body.activity.map(({ author }: { author: object }) => author)) // prettier-ignore
    const voters = async () =>
      marksOf((await site.http(`GET /posts/${postId}/votes`)).body.votes.results.map(({ user }: { user: object }) => user)) // prettier-ignore
    const author = async () => (await site.http('POST /posts/slug', { body: { id: postId } })).body.post.author.isTeam
    const listed = async () => (await site.http('POST /posts/get', { body: {} })).body.posts[0].author.isTeam
    const profile = async (userId: string) => (await site.http(`GET /users/${userId}/profile`)).body.profile.user.isTeam

    const { userId: first } = (await site.http('GET /users/profile', { token: owner })).body.user as { userId: string }
    const both = [first, team.userId].toSorted((one, other) => (one < other ? -1 : 1))
    expect([await comments(), await voters(), await author(), await listed()]).toEqual([
      both,
      both,
      undefined,
      undefined,
    ])
    expect([await profile(team.userId), await profile(helper.userId)]).toEqual([true, undefined])

    const { role } = await site.call(roles.create, { name: 'Team', permissions: ['dashboard:read'] })
    await site.call(roles.assign, { role_id: role.id, user_id: eve.userId })
    expect([(await comments()).length, await author(), await listed(), await profile(eve.userId)]).toEqual([
      3,
      true,
      true,
      true,
    ])
    await site.call(roles.unassign, { role_id: role.id, user_id: eve.userId })
    expect([await comments(), await author(), await listed(), await profile(eve.userId)]).toEqual([
      both,
      undefined,
      undefined,
      undefined,
    ])
    await site.call(users.block, { user: team.userId })
    expect([await comments(), await voters()]).toEqual([[first], [first]])
  })
})
