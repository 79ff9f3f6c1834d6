import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEVELOPMENT_SECRETS } from '../../../src/config/settings.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { appendAllToChains } from '../../../src/modules/audit-log/append-to-chain.js';
import { digestOf } from '../../../src/modules/audit-log/chain-queries.js';
import { verifyChain } from '../../../src/modules/audit-log/verify-chain.js';
import { openSecrets, type Secrets } from '../../../src/platform/access/secrets.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { sql } from '../../../src/platform/db/statements.js';
import { DEVELOPMENT_KEYS } from '../../../src/config/config.js';
import { insertEntry } from '../../support/builders/audit.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// After LOOKUP_KEY has leaked and was replaced, a thief has the old key and writes to the database.

const LIMIT_MS = 120_000;
const OLD = DEVELOPMENT_SECRETS.LOOKUP_KEY;
const NEW = 'e2'.repeat(32);
const TENANT = DEMO.tenants.demo;

let database: DocumentedDatabase;
/** A superuser's connections. */
let owner: pg.Pool;
let db: ReturnType<typeof openDb>;

beforeEach(async () => {
  database = await documentedDatabase({ demo: true });
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  db = openDb({ url: database.urls.DATABASE_URL, size: 2, onError: () => undefined });
  await append(OLD, 3);
}, LIMIT_MS);

afterEach(async () => {
  await db.close();
  await owner.end();
  await database.drop();
});

const secretsOf = (key: string): Secrets =>
  openSecrets({ ...DEVELOPMENT_KEYS, lookupKey: Buffer.from(key, 'hex') });

/** Writes entries, and appends them as a process with this key does. */
async function append(key: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await insertEntry(owner);
  await appendAllToChains({ db, secrets: secretsOf(key), stopping: new AbortController().signal });
}

function crossdock(args: string[], key = NEW, input = '') {
  const { status, stdout, stderr } = spawnSync(join(projectRoot, 'bin', 'crossdock'), args, {
    encoding: 'utf8',
    input,
    env: {
      PATH: process.env['PATH'],
      APP_ENV: 'development',
      ...database.urls,
      LOOKUP_KEY: key,
    },
  });
  return { status, stdout, stderr };
}

/** The pool of this file has the name of a server's. */
const RUNNING = '--despite-running-processes';

const close = (...more: string[]) =>
  crossdock(['rehash', '--replaced-key', '-', RUNNING, ...more], NEW, `${OLD}\n`);

/** Returns the lines of doctor about audit chains. */
const doctor = (key = NEW) =>
  crossdock(['doctor'], key)
    .stdout.split('\n')
    .filter((line) => /^\S+ +audit /.test(line))
    .join('\n');

const verify = (key = NEW, after = 0) =>
  verifyChain(makeContext(db, { kind: 'system', tenantId: TENANT }, 'test'), secretsOf(key), {
    action: 'verify',
    after,
    max_entries: 100_000,
  });

async function readLinks() {
  const { text, values } =
    sql`select l.sequence::int, l.entry_id as "entryId", encode(l.hash, 'hex') as hash, ${digestOf} as digest
    from audit_links l join audit_entries e on e.tenant_id = l.tenant_id and e.id = l.entry_id
    where l.tenant_id = ${TENANT}::uuid order by l.sequence`;
  const { rows } = await owner.query<{ sequence: number; entryId: string; hash: string; digest: string }>(
    text,
    values,
  );
  return rows;
}

/** Runs statements without triggers, as a thief with access to the database could. */
async function tamper(...statements: string[]): Promise<void> {
  await owner.query(
    ['begin', 'set local session_replication_role = replica', ...statements, 'commit'].join(';\n'),
  );
}

/** Computes the links up to a sequence again with the old key. */
async function relink(to: number): Promise<void> {
  let hash = '';
  for (const { sequence, digest } of (await readLinks()).filter((link) => link.sequence <= to)) {
    hash = secretsOf(OLD).auditChain.hash(hash, digest);
    await tamper(
      `update audit_links set hash = decode('${hash}', 'hex') where tenant_id = '${TENANT}' and sequence = ${sequence}`,
    );
  }
}

const alter = (id?: string) => tamper(`update audit_entries set remarks = 'changed' where id = '${id}'`);

describe('after the chain was closed', () => {
  let closed: number;
  beforeEach(async () => {
    closed = (await readLinks()).length;
    const { status, stdout } = close();
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^Closed the audit chain of tenant ${TENANT} after link ${closed}, with`, 'm'),
      ),
    ]);
    await append(NEW, 3);
  }, LIMIT_MS);

  test(
    'doctor has no problem, everything verifies with the new key alone, and a second run changes nothing',
    async () => {
      expect(doctor()).toMatch(
        /^ok +audit .*verify with this LOOKUP_KEY since 20\S+Z.*Older entries were chained with a key that was replaced\.$/,
      );
      expect(await verify()).toMatchObject({ flaw: undefined, to: closed + 5 });
      expect(close()).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          /^There was nothing to do, and nothing was changed: an earlier run .*Complete that replacement/,
        ),
      });
      // The keys of older links do not appear in the log.
      const { rows } = await owner.query<{ after: string }>(
        "select after::text from audit_entries where action = 'tenant.audit_chain_closed'",
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.map(({ after }) => after).join()).not.toContain(secretsOf(OLD).auditChain.key);
    },
    LIMIT_MS,
  );

  test('an older entry that is altered does not verify', async () => {
    const [, second] = await readLinks();
    await alter(second?.entryId);
    expect(await verify()).toMatchObject({ flaw: { sequence: 2, problem: 'altered' } });
  });

  test(
    'links that the thief computes again with the old key do not verify, and the chain is not closed a second time without it',
    async () => {
      const [, second] = await readLinks();
      await alter(second?.entryId);
      await relink(closed);
      expect(await verify()).toMatchObject({ flaw: { problem: 'altered' } });
      expect(doctor()).toMatch(/^problem +audit .*does not verify/m);
      expect(crossdock(['rehash'])).toMatchObject({
        status: 0,
        stdout: expect.not.stringContaining('Closed'),
      });
      expect(close()).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('verifies with neither key'),
      });
    },
    LIMIT_MS,
  );

  test(
    'a closing that the thief writes with the old key counts for nothing',
    async () => {
      await insertEntry(owner, { action: 'tenant.audit_chain_closed', entity: 'tenant' });
      await appendAllToChains({ db, secrets: secretsOf(OLD), stopping: new AbortController().signal });
      expect(doctor()).toMatch(/^problem +audit .*altered/m);
      expect(await verify()).toMatchObject({ flaw: { problem: 'altered' } });
    },
    LIMIT_MS,
  );

  test('a closing that is moved to a later place counts for nothing', async () => {
    const links = await readLinks();
    const closing = links[closed];
    await tamper(
      `delete from audit_links where tenant_id = '${TENANT}' and sequence > ${closed}`,
      `delete from audit_entries where id = any('{${links
        .slice(closed + 1)
        .map(({ entryId }) => entryId)
        .join()}}')`,
      'delete from audit_unsealed',
    );
    await append(OLD, 2);
    await tamper(
      `insert into audit_links values ('${TENANT}', ${closed + 3}, '${closing?.entryId}', decode('${closing?.hash}', 'hex'))`,
    );
    expect(await verify()).toMatchObject({ flaw: { problem: 'altered' } });
    expect(doctor()).toMatch(/^problem +audit .*does not verify/m);
  });

  test(
    'a chain that the thief wrote anew with the old key is a problem',
    async () => {
      await tamper(
        `delete from audit_links where tenant_id = '${TENANT}'`,
        'delete from audit_unsealed',
        `insert into audit_unsealed select tenant_id, at, id from audit_entries where tenant_id = '${TENANT}' and action <> 'tenant.audit_chain_closed'`,
      );
      await append(OLD, 1);
      expect(doctor()).toMatch(/^problem +audit .*does not verify/m);
    },
    LIMIT_MS,
  );

  test(
    'after the key is replaced again, everything verifies with the newest key alone',
    async () => {
      const newest = 'f3'.repeat(32);
      expect(crossdock(['rehash', '--replaced-key', '-', RUNNING], newest, NEW).status).toBe(0);
      await append(newest, 2);
      expect(await verify(newest)).toMatchObject({ flaw: undefined });
      expect(doctor(newest)).toMatch(/^ok +audit /);
      const [first] = await readLinks();
      await alter(first?.entryId);
      expect(await verify(newest)).toMatchObject({ flaw: { sequence: 1, problem: 'altered' } });
    },
    LIMIT_MS,
  );
});

test(
  'a process that runs stops the closing before anything is changed, and the line says what to stop',
  async () => {
    await append(OLD, 1);
    const before = await readLinks();
    const { status, stderr } = crossdock(['rehash', '--replaced-key', '-'], NEW, `${OLD}\n`);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^Processes use the database: \d+ connections? of the role \S+\. .* Nothing was changed\. Stop every server and worker, .*rehash (-- )?--despite-running-processes\.\n$/,
      ),
    ]);
    expect(await readLinks()).toEqual(before);
  },
  LIMIT_MS,
);

test(
  'a chain that a process continued with the old key after the closing is closed again only if the operator accepts it',
  async () => {
    const closed = (await readLinks()).length;
    expect(close().status).toBe(0);
    await append(OLD, 2);
    await append(NEW, 1);
    expect(doctor()).toMatch(/^problem +audit .*--replaced-key FILE --accept-altered/m);
    expect(close()).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/link \d+ after that does not have the present key.*--accept-altered/),
    });
    const accepted = (await readLinks()).length;
    expect(close('--accept-altered')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`with "after": ${accepted} it begins behind them`),
    });
    await append(NEW, 2);
    expect(doctor()).toMatch(/^ok +audit /);
    // Only the entries that the old process has chained are reported.
    expect(await verify()).toMatchObject({ flaw: { sequence: closed + 2, problem: 'altered' } });
    // From the accepted entry on everything is intact, and a later change is found.
    expect(await verify(NEW, accepted)).toMatchObject({ flaw: undefined, to: accepted + 3, nextAfter: null });
    expect(close('--accept-altered')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^There was nothing to do, and nothing was changed/),
    });
    await alter((await readLinks()).at(-1)?.entryId);
    expect(await verify(NEW, accepted)).toMatchObject({
      flaw: { sequence: accepted + 3, problem: 'altered' },
    });
  },
  LIMIT_MS,
);

test(
  'a chain that a process continued with the new key before the closing is closed as a whole',
  async () => {
    await append(NEW, 3);
    expect(doctor()).toMatch(/^problem +audit .*If you have just replaced it/m);
    expect(close().status).toBe(0);
    await append(NEW, 1);
    expect(await verify()).toMatchObject({ flaw: undefined });
    expect(doctor()).toMatch(/^ok +audit /);
  },
  LIMIT_MS,
);

test(
  'a chain that was altered is not closed unless the operator accepts it, and the log says so',
  async () => {
    const [, second] = await readLinks();
    await alter(second?.entryId);
    expect(close()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        `The audit chain of tenant ${TENANT} verifies with neither key at link 2: altered. It is not closed.`,
      ),
    });
    expect(close('--accept-altered').status).toBe(0);
    await append(NEW, 1);
    expect(doctor()).toMatch(/^ok +audit /);
    expect(await verify()).toMatchObject({ flaw: { sequence: 2, problem: 'altered' } });
    const { rows } = await owner.query(
      "select after ->> 'intact' as intact from audit_entries where action = 'tenant.audit_chain_closed' and tenant_id = $1",
      [TENANT],
    );
    expect(rows).toEqual([{ intact: 'false' }]);
  },
  LIMIT_MS,
);

test.each([
  ['the present key', NEW, 'contains the present LOOKUP_KEY'],
  ['another text', 'no key', 'must contain the LOOKUP_KEY that was replaced: 64 hex digits'],
])('rehash refuses %s as the replaced one', (_title, input, message) => {
  const { status, stderr } = crossdock(['rehash', '--replaced-key', '-'], NEW, input);
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});
