import { sql, type ExpressionBuilder, type Insertable, type RawBuilder } from 'kysely'
import { imagesIn } from '../core/images/address.js'
import { isAmong, isPostgres } from './dialect.js'
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

/** Returns the images that exist among these ids, at most 2,000. */
export const imagesAmong = (db: Db, ids: readonly string[]): Promise<ImageRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('images')
        .selectAll()
        .where(isAmong(db, 'imageId', ids))
        .execute()

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

/** Whether an image is the logo of the site, in light or in dark mode. */
const isLogo = (imageId: RawBuilder<unknown>) => {
  const address = sql`'%/' || cast(${imageId} as text) || '-%'`
  return sql<boolean>`exists (select 1 from settings where settings.logo like ${address} or settings."logoDark" like ${address})`
}

/** Whether everybody may read a text that shows the image, or it is the logo. */
export async function isShownToAll(db: Db, imageId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 where ${isLogo(sql.val(imageId))} union all
    select 1 from image_uses
    left join comments on comments.id = image_uses."commentId"
    join posts on posts."postId" = coalesce(image_uses."postId", comments.post_id)
    left join merges on merges."postId" = posts."postId"
    left join posts as root on root."postId" = merges."rootId"
    left join boards on boards."boardId" = posts."boardId"
    where image_uses."imageId" = ${imageId} and coalesce(root.display, posts.display) <> 0
      and (merges."postId" is null or (merges."wasHeld" = 0 and coalesce(boards.display, 1) = 1))
      and (comments.id is null or (comments.is_internal = 0 and comments.is_spam = 0))
    limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Keeps an image from being deleted by the transaction of another server until this one has ended. Returns whether there
 * is one.
 */
export async function holdImage(db: Db, imageId: string): Promise<boolean> {
  const query = db.selectFrom('images').select('imageId').where('imageId', '=', imageId)
  return (await query.$if(isPostgres(db), (locking) => locking.forKeyShare()).executeTakeFirst()) !== undefined
}

/** The text of a post or of a comment. */
type Text = ({ postId: string; commentId?: never } | { commentId: string; postId?: never }) & {
  markdown: string | null
}

/**
 * Records which images a text shows: those of `shown`, and of those that it names the ones that it showed before. Call it in
 * the transaction that writes the text.
 */
export async function recordUses(
  db: Db,
  text: Text,
  shown: readonly string[],
  { isNew }: { isNew: boolean },
): Promise<void> {
  const { postId = null, commentId = null, markdown } = text
  const textId = postId ?? commentId
  if (textId === null) return
  const named = imagesIn(markdown ?? '')
  if (!isNew)
    await db
      .deleteFrom('image_uses')
      .where('textId', '=', textId)
      .$if(named.length > 0, (query) => query.where('imageId', 'not in', named))
      .execute()
  const ids = named.filter((id) => shown.includes(id))
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

const isUnused = (eb: ExpressionBuilder<Tables, 'images'>) =>
  eb.not(
    eb.or([
      eb.exists(eb.selectFrom('image_uses').select('textId').whereRef('image_uses.imageId', '=', 'images.imageId')),
      isLogo(sql.ref('images.imageId')),
    ]),
  )

/** Deletes the images of a user that no text shows, and that are not the logo. */
export async function deleteUnusedOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('images').where('userId', '=', userId).where(isUnused).execute()
}

/** Where a list of images by age goes on. */
export type Place = Pick<ImageRow, 'createdAt' | 'imageId'>

/** Images from before a time, the oldest first, and whether a text shows them. */
export async function imagesBefore(
  db: Db,
  before: string,
  { after, limit }: { after: Place | undefined; limit: number },
): Promise<(Place & { isUsed: number })[]> {
  const { rows } = await sql<Place & { isUsed: number }>`
    select "createdAt", "imageId",
      case when exists (select 1 from image_uses where image_uses."imageId" = images."imageId") or ${isLogo(sql.ref('images.imageId'))} then 1 else 0 end as "isUsed"
    from images where "createdAt" < ${before}
      ${after === undefined ? sql`` : sql`and ("createdAt", "imageId") > (${after.createdAt}, ${after.imageId})`}
    order by "createdAt", "imageId" limit ${limit}`.execute(db)
  return rows
}

/** Deletes those of some images that no text shows. Returns how many. */
export async function deleteUnused(db: Db, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  // A text that is being written may show one: its transaction holds the image
  if (isPostgres(db)) await sql`select 1 from images where "imageId" in (${sql.join(ids)}) for update`.execute(db)
  const { numDeletedRows } = await db.deleteFrom('images').where('imageId', 'in', ids).where(isUnused).executeTakeFirstOrThrow() // prettier-ignore
  return Number(numDeletedRows)
}
