import * as Type from 'typebox'
import { invalidField } from '../core/fields.js'
import { lockUser } from '../db/users.js'
import { addUserTags, MOST_USER_TAGS, removeUserTags, userTagsOf } from '../db/usertags.js'
import { change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { User, userNotFound, userShown } from './lib/people.js'
import { fields, listOf } from './lib/schemas.js'
import { tagKey, tagWord } from './lib/usertagwords.js'
import { nothingGiven } from './posttags.js'
import { userOf, who } from './users.js'

const MOST_CHARACTERS = 50

const tagsField = (description: string) => Type.Optional(listOf({ maxItems: MOST_USER_TAGS, description }))

/** A tag as it is shown, and in the letters by which it is found. */
interface Given {
  tag: string
  tagFolded: string
}

export const tag = operation({
  id: 'users.tag',
  summary: 'Give a user tags, and take tags away; only the team sees them',
  http: 'POST /users/:user/tag 200',
  access: 'user:block',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({
    user: who,
    add: tagsField(`Tags to give: words of up to ${MOST_CHARACTERS} characters without a comma`),
    remove: tagsField('Tags to take away, in any letter case'),
  }),
  output: Type.Object({ user: User }),
  subject: userOf('user:block'),
  run(ctx, { add = [], remove = [] }, subject) {
    if (add.length === 0 && remove.length === 0) throw nothingGiven()
    const given = tagsGiven(add)
    return change(ctx, async (tx) => {
      const user = await lockUser(tx.db, subject.userId)
      if (!user) throw userNotFound()
      const { userId } = user
      const before = await userTagsOf(tx.db, [userId])
      const has = (key: string) => before.some(({ tagFolded }) => tagFolded === key)
      const taken = remove.map(tagKey)
      const fresh = given.filter(({ tagFolded }) => !has(tagFolded) && !taken.includes(tagFolded))
      const gone = taken.filter(has)
      if (before.length + fresh.length - new Set(gone).size > MOST_USER_TAGS) throw tooMany()
      await addUserTags(tx.db, { userId, tags: fresh, at: tx.now().toISOString() })
      await removeUserTags(tx.db, { userId, folded: gone })
      // Without the tags: what people are called goes with the account
      if (fresh.length > 0 || gone.length > 0) tx.record('user.tagged', userId)
      return userShown({ ...ctx, db: tx.db }, user)
    })
  },
})

/** Each once, as it is written first. */
function tagsGiven(given: readonly string[]): Given[] {
  const found = new Map<string, Given>()
  for (const each of given) {
    const word = tagWord(each)
    const key = tagKey(word)
    if (key === '' || word.length > MOST_CHARACTERS || word.includes(',')) throw notTag(each)
    if (!found.has(key)) found.set(key, { tag: word, tagFolded: key })
  }
  return [...found.values()]
}

function notTag(given: string) {
  const [value, rule] = [given.slice(0, 100).toWellFormed(), `text of 1 to ${MOST_CHARACTERS} characters without a comma`] // prettier-ignore
  const message = `A tag must be ${rule}; ${JSON.stringify(value)} is not.`
  return invalidField({ code: 'INVALID_VALUE', message, field: 'add', rule, value })
}

const tooMany = () =>
  invalidField({
    code: 'TOO_MANY',
    message: `A user has at most ${MOST_USER_TAGS} tags. Take some away first.`,
    field: 'add',
    rule: `at most ${MOST_USER_TAGS} tags of a user`,
    value: undefined,
  })
