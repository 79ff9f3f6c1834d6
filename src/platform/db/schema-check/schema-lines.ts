import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { projectRoot } from '../../../config/project-root.js';
import { DESCRIBE } from './statement.js';

/** A property of an object in the database, for example the kind `row-level security` of `public.packages`. */
export type SchemaLine = { kind: string; object: string; value: string };

/** What the migrations make. `npm run schema:describe` writes the file. */
export type ExpectedSchema = {
  /** The names of the migrations that were applied. */
  migrations: string[];
  lines: SchemaLine[];
};

export const EXPECTED = join(projectRoot, 'generated', 'schema.json');

/** The text of definitions depends on these settings. With JIT, PostgreSQL compiles the statement for longer than it runs. */
const SETTINGS = `set local search_path = public, pg_temp; set local quote_all_identifiers = off;
  set local intervalstyle = postgres; set local datestyle = iso; set local timezone = utc; set local jit = off`;

/**
 * Describes the schema of a database.
 *
 * @param client in no transaction. Each role can read the catalogue
 */
export async function describeSchema(client: pg.ClientBase): Promise<SchemaLine[]> {
  await client.query(`begin read only; ${SETTINGS}`);
  try {
    const { rows } = await client.query<SchemaLine>(DESCRIBE);
    return rows
      .map(({ kind, object, value }) => ({ kind, object, value: value.replace(/\s+/g, ' ') }))
      .sort((one, other) => compare(keyOf(one), keyOf(other)));
  } finally {
    await client.query('rollback');
  }
}

/** Identifies the object and the property. */
export const keyOf = ({ kind, object }: SchemaLine): string => `${kind} ${object}`;

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

export async function readExpected(path = EXPECTED): Promise<ExpectedSchema> {
  // The file belongs to this code, and test/database/schema/expected.test.ts checks its content.
  const { migrations, lines } = JSON.parse(await readFile(path, 'utf8')) as {
    migrations: string[];
    lines: [string, string, string][];
  };
  return { migrations, lines: lines.map(([kind, object, value]) => ({ kind, object, value })) };
}

/** Returns the text of the file: one line per line of the schema, for readable changes. */
export function formatExpected({ migrations, lines }: ExpectedSchema): string {
  const rows = lines.map(({ kind, object, value }) => JSON.stringify([kind, object, value]));
  return `{"migrations":${JSON.stringify(migrations)},"lines":[\n${rows.join(',\n')}\n]}\n`;
}
