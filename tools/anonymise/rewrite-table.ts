import type pg from 'pg';
import type { Decision } from './columns.js';
import { describeTable, rebuildIndexes, takeIndexes, type Column } from './catalogue.js';

/** A row as text: its place in the table, and its columns. */
export type TextRow = Record<string, string | null>;

type ReplaceRow = (row: TextRow) => TextRow;

/** The rows that are read, replaced and written in one statement. */
const BATCH_ROWS = 2_000;

/**
 * Replaces columns of every row of a table, in the caller's transaction and as the owner of the table. Triggers, row-level
 * security and indexes are off meanwhile: a replacement may be the old value of another row.
 *
 * @param decisions by column
 * @param replace returns the new values of the columns that change
 */
export async function rewriteTable(
  client: pg.ClientBase,
  table: string,
  decisions: Record<string, Decision>,
  replace: ReplaceRow,
): Promise<number> {
  const { columns, isForced } = await describeTable(client, table);
  const changing = columns.filter(({ name }) => isReplaced(decisions[name]));
  if (changing.length === 0) return 0;
  await client.query(`alter table ${table} disable trigger user`);
  if (isForced) await client.query(`alter table ${table} no force row level security`);
  const rows = await collect(client, table, { columns, changing, replace });
  if (rows > 0) await apply(client, table, changing);
  await client.query('drop table changed');
  if (isForced) await client.query(`alter table ${table} force row level security`);
  await client.query(`alter table ${table} enable trigger user`);
  return rows;
}

const isReplaced = (decision: Decision | undefined) =>
  decision !== undefined && !['keep', 'chain', 'terms'].includes(decision);

type Rewrite = { columns: Column[]; changing: Column[]; replace: ReplaceRow };

/** Fills a temporary table with the new values. Returns the number of rows. */
async function collect(
  client: pg.ClientBase,
  table: string,
  { columns, changing, replace }: Rewrite,
): Promise<number> {
  const fields = changing.map(({ quoted, type }) => `${quoted} ${type}`).join(', ');
  await client.query(`create temporary table changed (old_ctid tid, ${fields}) on commit drop`);
  const texts = columns.map(({ quoted }) => `${quoted}::text as ${quoted}`).join(', ');
  await client.query(
    `declare all_rows no scroll cursor for select ctid::text as old_ctid, ${texts} from ${table}`,
  );
  let total = 0;
  for (;;) {
    const { rows } = await client.query<TextRow>(`fetch ${BATCH_ROWS} from all_rows`);
    if (rows.length === 0) break;
    const values = rows.map((row) => ({ old_ctid: row['old_ctid'], ...replace(row) }));
    const names = changing.map(({ quoted }) => quoted).join(', ');
    const casts = changing.map(({ quoted, type }) => `${quoted}::${type}`).join(', ');
    const texts = changing.map(({ quoted }) => `${quoted} text`).join(', ');
    await client.query(
      `insert into changed (old_ctid, ${names})
       select old_ctid::tid, ${casts} from jsonb_to_recordset($1) as new_row (old_ctid text, ${texts})`,
      [JSON.stringify(values)],
    );
    total += rows.length;
  }
  await client.query('close all_rows');
  return total;
}

async function apply(client: pg.ClientBase, table: string, changing: Column[]): Promise<void> {
  const indexes = await takeIndexes(
    client,
    table,
    changing.map(({ name }) => name),
  );
  const assignments = changing.map(({ quoted }) => `${quoted} = changed.${quoted}`).join(', ');
  await client.query(`update ${table} t set ${assignments} from changed where t.ctid = changed.old_ctid`);
  await rebuildIndexes(client, table, indexes);
}
