import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Lets everyone delete their own comments, as far as others have not replied. */
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
