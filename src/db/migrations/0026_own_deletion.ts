import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Lets users delete their own comments if nobody else has replied. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('role_permissions')
    .columns(['role_id', 'permission'])
    .expression((eb) =>
      eb
        .selectFrom('roles')
        .select((role) => ['roles.id', role.val('comment:delete:own').as('permission')])
        .where('isSystem', '=', 1),
    )
    .onConflict((conflict) => conflict.columns(['role_id', 'permission']).doNothing())
    .execute()
}
