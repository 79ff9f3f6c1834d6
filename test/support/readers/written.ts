import type pg from 'pg';

/** What a request has written: rows that were inserted or updated and still exist, and their bytes. */
export type Written = { rows: number; bytes: number; tables: Record<string, number> };

export type WrittenReader = {
  /** Returns a mark for `since`. */
  mark(): Promise<string>;
  /** Returns what all transactions after the mark have written, except those of this reader. */
  since(mark: string): Promise<Written>;
};

/**
 * Reads the ids of the transactions that wrote the rows. Unlike the WAL and the sizes of tables, they do not depend on other
 * databases of the same server, on checkpoints and on free space in pages.
 */
export async function readWritten(owner: pg.Pool): Promise<WrittenReader> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and c.relpersistence = 'p'`,
  );
  const counts = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*)::int as rows, coalesce(sum(pg_column_size(t.*)), 0)::int as bytes
       from ${name} t where t.xmin::text::bigint >= $1::bigint`,
  );
  const statement = counts.join(' union all ');
  return {
    async mark() {
      const { rows } = await owner.query<{ id: string }>('select pg_current_xact_id()::text as id');
      return rows[0]?.id ?? '';
    },
    async since(mark) {
      const { rows } = await owner.query<{ name: string; rows: number; bytes: number }>(statement, [mark]);
      const written = rows.filter((each) => each.rows > 0);
      return {
        rows: written.reduce((sum, each) => sum + each.rows, 0),
        bytes: written.reduce((sum, each) => sum + each.bytes, 0),
        tables: Object.fromEntries(written.map((each) => [each.name, each.rows])),
      };
    },
  };
}
