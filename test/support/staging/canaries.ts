import pg from 'pg';

/** A text that exists once: in one row of a column. */
export type Planted = { column: string; canary: string };
export type Canaries = {
  planted: Planted[];
  /** Columns whose constraints allow none of the canaries. */
  impossible: string[];
  /** Columns of tables without rows. */
  empty: string[];
};

type Column = { table: string; column: string; type: string };

/** Written by migrations only. With a canary the service would refuse to start. */
const SKIPPED = ['public._prisma_migrations'];

/** What must change with a column. */
const ALONG: Record<string, string> = {
  'public.courier_logos.content': ", content_hash = encode(sha256($1::bytea), 'hex')",
};

/** Plants a canary in every column of text, JSON or bytes of the database, without triggers. Needs a superuser. */
export async function plantCanaries(owner: pg.Client): Promise<Canaries> {
  const found: Canaries = { planted: [], impossible: [], empty: [] };
  await owner.query("set session_replication_role = 'replica'");
  for (const [n, column] of (await columnsOf(owner)).entries()) {
    const name = `${column.table}.${column.column}`;
    if (await isEmpty(owner, column)) found.empty.push(name);
    else {
      const canary = await plantOne(owner, column, n);
      if (canary) found.planted.push({ column: name, canary });
      else found.impossible.push(name);
    }
  }
  await owner.query("set session_replication_role = 'origin'");
  return found;
}

async function columnsOf(owner: pg.Client): Promise<Column[]> {
  const { rows } = await owner.query<Column>(
    `select format('%I.%I', table_schema, table_name) as table, column_name as column, data_type as type
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
       and data_type in ('text', 'character varying', 'json', 'jsonb', 'bytea')
       and format('%I.%I', table_schema, table_name) <> all ($1)
     order by 1, ordinal_position`,
    [SKIPPED],
  );
  return rows;
}

async function isEmpty(owner: pg.Client, { table }: Column): Promise<boolean> {
  return (await owner.query(`select from ${table} limit 1`)).rowCount === 0;
}

/** Returns the first canary that the constraints of the column accept. */
async function plantOne(
  owner: pg.Client,
  { table, column, type }: Column,
  n: number,
): Promise<string | undefined> {
  const word = `zyxwvut${String(n).padStart(3, '0')}srqponm`;
  for (const canary of [`Canary ${word}`, word]) {
    const value = { json: JSON.stringify({ note: { text: [canary] } }), bytea: bytesOf(canary) }[
      type === 'jsonb' ? 'json' : type
    ];
    try {
      const name = pg.escapeIdentifier(column);
      await owner.query(
        `update ${table} set ${name} = $1${ALONG[`${table}.${column}`] ?? ''} where ctid = (select ctid from ${table} order by ${name} is null, ctid limit 1)`,
        [value ?? canary],
      );
      return word;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== '23514') throw error;
    }
  }
  return undefined;
}

/** As long as a link of the audit log. */
const bytesOf = (canary: string) => `\\x${Buffer.from(canary.padEnd(32, '.')).toString('hex')}`;

/** Returns everything that a copy of the database contains: the rows of all tables and the planner's statistics. */
export async function dump(owner: pg.Client): Promise<string> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const parts = [
    `select s::text as row from pg_stats s where schemaname not in ('pg_catalog', 'information_schema')`,
  ];
  parts.push(...tables.map(({ name }) => `select t::text as row from ${name} t`));
  const found: string[] = [];
  for (const text of parts) {
    const { rows } = await owner.query<{ row: string }>(text);
    found.push(...rows.map(({ row }) => row));
  }
  return found.join('\n');
}

/** Returns the columns whose canary is in the dump, in any case, or as hexadecimal digits. */
export function findCanaries(text: string, planted: Planted[]): string[] {
  const lower = text.toLowerCase();
  return planted
    .filter(({ canary }) => lower.includes(canary) || lower.includes(Buffer.from(canary).toString('hex')))
    .map(({ column }) => column);
}
