import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// Every SQL block of the documents, and every complete SELECT in their text, runs on a migrated database with the rights that the page names.

const LIMIT_MS = 120_000;
const docs = join(projectRoot, 'docs');

/** Blocks that are no statements for an installation. By a text that only they contain. */
const EXEMPT: Record<string, string> = {
  '-- table: packages': 'the example of a file background.sql, for a column that does not exist',
  pg_promote: 'only a standby can be promoted',
};

type Statement = { title: string; page: string; text: string };

function readStatements(page: string): Statement[] {
  const content = readFileSync(join(docs, page), 'utf8');
  const blocks = [...content.matchAll(/^ *```sql\n([^]*?)^ *```$/gm)].map(([, text = '']) => text);
  const prose = content.replace(/^ *```[^]*?^ *```$/gm, '');
  const inline = [...prose.matchAll(/`(select\s[^`]+)`/g)].map(([, text = '']) => text);
  return [...blocks, ...inline].map((text) => ({
    title: `${page}: ${text.split('\n')[0]}`,
    page,
    text: text.replaceAll('<id>', '1'),
  }));
}

const ALL = readdirSync(docs)
  .filter((name) => name.endsWith('.md'))
  .flatMap(readStatements);
const STATEMENTS = ALL.filter(({ text }) => !Object.keys(EXEMPT).some((part) => text.includes(part)));

let database: DocumentedDatabase;
let reader: string;
let readerUrl: string;

beforeAll(async () => {
  database = await documentedDatabase();
  reader = `${database.name}_reader`;
  // The role that "What to do" in docs/operations.md names.
  await withClient(database.ownerUrl, async (client) => {
    await client.query(`create role ${reader} login bypassrls password 'reader'`);
    await client.query(`grant pg_read_all_data, pg_monitor to ${reader}`);
    await client.query(`grant connect on database ${database.name} to ${reader}`);
  });
  readerUrl = Object.assign(new URL(database.ownerUrl), { username: reader, password: 'reader' }).href;
}, LIMIT_MS);

afterAll(async () => {
  await withClient(database.ownerUrl, async (client) => {
    await client.query(`drop owned by ${reader}`);
    await client.query(`drop role ${reader}`);
  });
  await database.drop();
}, LIMIT_MS);

/** Runs statements with the names of this database, and takes them back. Returns the number of their results. */
const runAll = (url: string, text: string): Promise<number> =>
  withClient(url, async (client) => {
    await client.query('begin');
    const results = await client.query(
      text
        .replaceAll(/\bcrossdock_(owner|login)\b/g, `${database.name}_$1`)
        .replaceAll(/\bdatabase crossdock\b/g, `database ${database.name}`),
    );
    await client.query('rollback');
    return [results].flat().length;
  });

const countOf = (text: string) => text.split(/;\s*(?:\n|$)/).filter((part) => part.trim() !== '').length;

describe('a statement of a document', () => {
  test.each(STATEMENTS)(
    'runs as a superuser: $title',
    async ({ text }) => {
      expect(await runAll(database.ownerUrl, text)).toBe(countOf(text));
    },
    LIMIT_MS,
  );

  // Functions of the queue change it.
  const reads = STATEMENTS.filter(
    ({ page, text }) => page === 'operations.md' && !/graphile_worker\.\w+\(/.test(text),
  );
  test.each(reads)(
    'runs as a role with BYPASSRLS that may read: $title',
    async ({ text }) => {
      expect(await runAll(readerUrl, text)).toBe(countOf(text));
    },
    LIMIT_MS,
  );
});

test(
  'the statements that the owner gives to psql name the database that the documents create',
  async () => {
    const commands = readdirSync(docs)
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => [
        ...readFileSync(join(docs, name), 'utf8').matchAll(
          /psql "\$DATABASE_OWNER_URL" -c '(alter database [^']+)'/g,
        ),
      ])
      .map(([, text = '']) => text);
    expect(commands).toEqual(['alter database crossdock reset default_transaction_read_only']);
    for (const text of commands) expect(await runAll(database.urls.DATABASE_OWNER_URL, text)).toBe(1);
  },
  LIMIT_MS,
);

test('the documents have the statements that are tested and exempt', () => {
  expect(STATEMENTS.length).toBeGreaterThan(15);
  expect(Object.keys(EXEMPT).filter((part) => !ALL.some(({ text }) => text.includes(part)))).toEqual([]);
});
