import { sql, type Insertable } from 'kysely'
import { imagesIn } from '../core/images/address.js'
import { isPostgres } from './dialect.js'
import { referringTo } from './references.js'
import type { Db, ImageRow, Tables } from './tables.js'

/** Bytes of a part. A backup reads hundreds of rows at a time. */
const PART = 12_288

/** Stores an image in parts: both engines and backups hold texts, and no row is long. */
export async function insertImage(db: Db, image: Insertable<Tables['images']>, data: Buffer): Promise<void> {
  await referringTo({ users: image.userId }, () => db.insertInto('images').values(image).execute())
  const parts = Array.from({ length: Math.ceil(data.length / PART) }, (_, part) => ({
    imageId: image.imageId,
    part,
    data: data.toString('base64', part * PART, (part + 1) * PART),
  }))
  if (parts.length > 0) await db.insertInto('image_parts').values(parts).execute()
}

export const findImage = (db: Db, imageId: string): Promise<ImageRow | undefined> =>
  db.selectFrom('images').selectAll().where('imageId', '=', imageId).executeTakeFirst()

export async function imageData(db: Db, imageId: string): Promise<Buffer> {
  const rows = await db
    .selectFrom('image_parts')
    .select('data')
    .where('imageId', '=', imageId)
    .orderBy('part')
    .execute()
  return Buffer.concat(rows.map(({ data }) => Buffer.from(data, 'base64')))
}

export const deleteImage = (db: Db, imageId: string): Promise<ImageRow | undefined> =>
  db.deleteFrom('images').where('imageId', '=', imageId).returningAll().executeTakeFirst()

/** Uses that are looked at to find out who may see an image. */
const MOST_USES = 50

/** The posts and comments whose texts show an image. */
export const usesOf = (db: Db, imageId: string): Promise<{ postId: string | null; commentId: string | null }[]> =>
  db
    .selectFrom('image_uses')
    .select(['postId', 'commentId'])
    .where('imageId', '=', imageId)
    .orderBy('textId')
    .limit(MOST_USES)
    .execute()

/** The text of a post or of a comment. */
type Text = ({ postId: string; commentId?: never } | { commentId: string; postId?: never }) & {
  markdown: string | null
}

/** Images that one text shows at most. It may name more, which nobody but those who uploaded them then sees. */
const MOST_IN_TEXT = 50

/** Records which images a text shows. Call it in the transaction that writes the text. */
export async function recordUses(db: Db, text: Text, { isNew }: { isNew: boolean }): Promise<void> {
  const { postId = null, commentId = null, markdown } = text
  const textId = postId ?? commentId
  if (textId === null) return
  const ids = imagesIn(markdown ?? '').slice(0, MOST_IN_TEXT)
  if (!isNew)
    await db
      .deleteFrom('image_uses')
      .where('textId', '=', textId)
      .$if(ids.length > 0, (query) => query.where('imageId', 'not in', ids))
      .execute()
  if (ids.length === 0) return
  await db
    .insertInto('image_uses')
    .columns(['imageId', 'textId', 'postId', 'commentId'])
    .expression(
      (eb) =>
        eb
          .selectFrom('images')
          .select([
            'imageId',
            sql<string>`${textId}`.as('textId'),
            sql<string | null>`${postId}`.as('postId'),
            sql<string | null>`${commentId}`.as('commentId'),
          ])
          .where('imageId', 'in', ids)
          .$if(isPostgres(db), (query) => query.forKeyShare()), // or it could be deleted meanwhile
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Whether there is an image from before a time that no text shows. */
export async function hasUnusedImage(db: Db, before: string): Promise<boolean> {
  return (await unusedImages(db, before, 1)).length > 0
}

/** Deletes images from before a time that no text shows, the oldest first. Returns how many. */
export async function deleteUnusedImages(db: Db, before: string, limit: number): Promise<number> {
  const ids = await unusedImages(db, before, limit)
  if (ids.length === 0) return 0
  if (isPostgres(db)) await sql`select 1 from images where "imageId" in (${sql.join(ids)}) for update`.execute(db)
  // A text may show it since it was looked up
  const { numDeletedRows } = await db
    .deleteFrom('images')
    .where('imageId', 'in', ids)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom('image_uses').select('textId').whereRef('image_uses.imageId', '=', 'images.imageId')),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

async function unusedImages(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ imageId: string }>`
    select "imageId" from images
    where "createdAt" < ${before} and not exists (select 1 from image_uses where image_uses."imageId" = images."imageId")
    order by "createdAt", "imageId" limit ${limit}`.execute(db)
  return rows.map(({ imageId }) => imageId)
}
