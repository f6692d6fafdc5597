import type pg from 'pg'

/** Objects of PostgreSQL itself have a lower number. */
const FIRST_OID = 16_384

/** What differs after any change of the schema or of settings: the last transaction that changed each catalog. */
export const SCHEMA = `select concat_ws(' ', ${[
  ['pg_attribute', 'attrelid'],
  ['pg_proc', 'oid'],
  ['pg_trigger', 'oid'],
  ['pg_constraint', 'oid'],
]
  .map(
    ([catalog, oid]) =>
      `(select count(*) || ':' || max(xmin::text::bigint) from ${catalog} where ${oid} >= ${FIRST_OID})`,
  )
  .join(', ')},
  (select max(xmin::text::bigint) from pg_namespace), (select count(*) from pg_namespace), (select count(*) from pg_class), (select count(*) from pg_index), (select count(*) from pg_db_role_setting
  where setdatabase = (select oid from pg_database where datname = current_database()))) as schema`

/** Writes the statements that make a database like this one again, whatever rows it has then. */
export async function resetOf(client: pg.Client): Promise<string> {
  const names = async (sql: string) => (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name)
  const tables = await names(`select format('%I', tablename) as name from pg_tables where schemaname = 'public'`)
  const statements = ['begin', 'set local session_replication_role = replica'] // neither triggers nor foreign keys
  // Deleted rows take up room until a vacuum, which the server of the tests never does.
  statements.push(`do $$ declare each text; begin foreach each in array array['${tables.join("','")}'] loop
    case when pg_relation_size(each::regclass) = 0 then null;
      when pg_relation_size(each::regclass) > 65536 then execute 'truncate ' || each; else execute 'delete from ' || each; end case;
    end loop; end $$`)
  for (const table of tables) {
    const { rows } = await client.query<{ text: string | null }>(`select json_agg(t)::text as text from ${table} t`)
    const text = rows[0]?.text
    if (text) statements.push(`insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ${client.escapeLiteral(text)})`) // prettier-ignore
  }
  const sequences = await client.query<{ sql: string }>(
    `select format('select setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),
      last_value is not null) as sql from pg_sequences`,
  )
  statements.push(...sequences.rows.map(({ sql }) => sql), 'commit')
  return statements.join(';\n')
}
