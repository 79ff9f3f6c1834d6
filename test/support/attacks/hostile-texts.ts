import type pg from 'pg';

/** Characters that no text may have: PostgreSQL refuses the first three, the others break a reader of the stored text. */
export const HOSTILE_CHARACTERS: readonly [name: string, character: string][] = [
  ['U+0000', '\u0000'],
  ['a lone high surrogate', '\ud800'],
  ['a lone low surrogate', '\udfff'],
  ['U+FFFE', '\ufffe'],
  ['U+FFFF', '\uffff'],
  ['U+FDD0', '\ufdd0'],
  ['U+10FFFF', '\u{10ffff}'],
  ['U+0007', '\u0007'],
  ['U+009B', '\u009b'],
];

/** Longer than any text that is stored. */
export const VERY_LONG = 'x'.repeat(70_000);

/** Returns the text with a mark before, behind and inside it. */
export const around = (text: string, mark: string): string[] => [
  mark + text,
  text + mark,
  text.slice(0, 2) + mark + text.slice(2),
];

/** In JSON, PostgreSQL escapes the first control characters. Line breaks and tabs are text. U+FFFD is what is left of half a surrogate pair. */
const STORED = String.raw`(^|[^\\])(\\\\)*\\u00[01]|\\[bf]|[\u007f-\u009f\ufdd0-\ufdef\ufffd-\uffff\U0010ffff]`;

const OURS = "relname <> '_prisma_migrations' and relnamespace = 'public'::regnamespace";
const QUEUE = "relname = '_private_jobs' and relnamespace = 'graphile_worker'::regnamespace";

/** Returns the rows that have a hostile character or a very long text in any column, with the table's name. */
export async function hostileRows(owner: pg.Pool): Promise<string[]> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and (${OURS} or ${QUEUE})`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await owner.query<{ row: string }>(
      `select left(row, 300) as row from (select to_jsonb(t)::text as row from ${name} t) as read
       where row ~ $1 or position($2 in row) > 0 limit 3`,
      [STORED, VERY_LONG],
    );
    found.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return found;
}
