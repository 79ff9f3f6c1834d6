import type pg from 'pg';
import { readValue } from '../connections/rows.js';
import { readHistory } from '../migrations/history.js';
import { listMigrations, MIGRATIONS } from '../migrations/migration-files.js';
import { findDifferences, type SchemaDifference } from './differences.js';
import { OWNER } from './remedies.js';
import { describeSchema, readExpected } from './schema-lines.js';
import { READ_OWNER } from './statement.js';

/**
 * Compares the schema with what the migrations of this version make. Returns undefined if the database has applied others: during
 * a rolling upgrade, servers of the previous release start on the schema of the next one.
 *
 * @param client in no transaction
 */
export async function checkSchema(client: pg.ClientBase): Promise<SchemaDifference[] | undefined> {
  const expected = await readExpected();
  const isOwn = async () => isSame(await appliedTo(client), expected.migrations);
  if (!isSame(await listMigrations(MIGRATIONS), expected.migrations) || !(await isOwn())) return undefined;
  const differences = findDifferences(expected.lines, await describeSchema(client));
  if (differences.length === 0) return differences;
  // A migration may have been applied meanwhile.
  if (!(await isOwn())) return undefined;
  const owner = await readValue<string>(client, READ_OWNER);
  return differences.map((each) => ({ ...each, remedy: each.remedy.replaceAll(OWNER, owner) }));
}

async function appliedTo(client: pg.ClientBase): Promise<string[]> {
  const history = await readHistory(client);
  return history.map(({ name, finishedAt }) => (finishedAt ? name : `${name} (unfinished)`)).sort();
}

const isSame = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((name, index) => name === other[index]);
