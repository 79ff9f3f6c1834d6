import { Worker } from 'node:worker_threads';
import type { UserCaller } from '../../src/auth/callers.js';
import { openSecrets } from '../../src/auth/secrets.js';
import type { Config } from '../../src/config.js';
import { enter, type Db, type Sql } from '../../src/db/transaction.js';
import { DEMO } from '../../src/demo/seed.js';
import { newId } from '../../src/ids.js';
import { selectFigures, selectInfo, selectPackages } from '../../src/manifests/detail-queries.js';
import {
  announceWithKey,
  lockParcel,
  pageOfPrealerts,
  statsOfPrealerts,
} from '../../src/prealerts/queries.js';
import { withClient } from '../../src/db/roles.js';
import type { BenchTenant } from './database.js';
import { findProgram, inline, rateDriver, ratePgbench, timeTransaction } from './postgres.js';
import { exchange, logIn } from './service.js';

/** One line of the report: ours, PostgreSQL's own, and what is compared. */
export type Row = {
  name: string;
  ours: number;
  theirs: number;
  unit: string;
  against: string;
  ratio: number;
};

// Statement builders need a Db only for its switch.
const filters = { applicationFilters: true } as Db;

const CLIENTS = 10;
const ROUNDS = 3;
const SECONDS = 4;

/** Pre-alerts submitted a second, beside the same statements through pgbench, in alternating rounds. */
export async function submitRow(config: Config, servingUrl: string, port: number): Promise<Row> {
  const statements = submitStatements(config);
  const pgbench = findProgram('pgbench');
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = pgbench
      ? ratePgbench(pgbench, servingUrl, statements(':n'), CLIENTS, SECONDS)
      : await rateDriver(servingUrl, (n) => ['begin', ...statements(String(n)), 'commit'], CLIENTS, SECONDS);
    rounds.push({ theirs, ours: await rateHttp(port) });
  }
  const { ours, theirs } = median(rounds);
  const against = pgbench ? 'pgbench, the same pipelined statements' : 'bare node-postgres (no pgbench here)';
  return { name: 'submit a pre-alert', ours, theirs, unit: '/s', against, ratio: ours / theirs };
}

function submitStatements(config: Config): (n: string) => string[] {
  const caller = {
    kind: 'key' as const,
    tenantId: DEMO.tenants.demo,
    keyHash: openSecrets(config.secrets).lookupHash(DEMO.apiKeys.IEX, 'api_key'),
  };
  const id = newId();
  const parcel = {
    id,
    userCode: 'IEX-1001',
    trackingNumber: '@number',
    trackingKey: '@number',
    vendor: null,
    description: null,
    reference: null,
  };
  return (n) => {
    const number = `('PGB' || ${n})`;
    const expressions = {
      [id]: 'gen_random_uuid()',
      '@number': number,
      [`${caller.tenantId} @number`]: number,
    };
    const insert = announceWithKey(filters, caller, 'bench', parcel);
    // the audit entry's id is made inside the builder: the one value left that looks like an id
    const withFreshIds = inline(insert, expressions).replace(
      /'[0-9a-f-]{36}'::uuid, 'api_key'/,
      "gen_random_uuid(), 'api_key'",
    );
    return [inline(enter(caller)), inline(lockParcel(caller.tenantId, '@number'), expressions), withFreshIds];
  };
}

async function rateHttp(port: number): Promise<number> {
  const load = { port, connections: CLIENTS * 2, seconds: SECONDS, key: DEMO.apiKeys.IEX };
  const worker = new Worker(new URL('./submit-load.js', import.meta.url), { workerData: load });
  const { created, refused } = await new Promise<{ created: number; refused: number }>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (refused > 0) throw new Error(`${refused} submissions were refused.`);
  return created / SECONDS;
}

const median = (rounds: { ours: number; theirs: number }[]) => {
  const sorted = [...rounds].sort((a, b) => a.ours / a.theirs - b.ours / b.theirs);
  return sorted[Math.floor(sorted.length / 2)] ?? { ours: NaN, theirs: NaN };
};

const LIST_QUERY = { page: 1, limit: 50, sort_by: 'created_at', sort_dir: 'DESC' } as const;

/** A first page with its stats, over HTTP and through psql. */
export async function listRow(
  tenant: BenchTenant,
  label: string,
  servingUrl: string,
  ownerUrl: string,
): Promise<Row> {
  const caller = await adminOf(tenant, ownerUrl);
  const statements = [
    pageOfPrealerts(filters, caller, LIST_QUERY),
    statsOfPrealerts(filters, caller, LIST_QUERY),
  ];
  return readRow(
    `list pre-alerts, ${label}`,
    '/api/ManagePrealerts.php',
    tenant,
    caller,
    statements,
    servingUrl,
  );
}

export async function manifestRow(tenant: BenchTenant, servingUrl: string, ownerUrl: string): Promise<Row> {
  const caller = await adminOf(tenant, ownerUrl);
  const statements = [selectInfo, selectPackages, selectFigures].map((select) =>
    select(filters, caller, tenant.manifestId),
  );
  const path = `/api/GetManifest.php?id=${tenant.manifestId}`;
  return readRow('GetManifest, 2,000 packages', path, tenant, caller, statements, servingUrl);
}

async function readRow(
  name: string,
  path: string,
  tenant: BenchTenant,
  caller: UserCaller,
  statements: Sql[],
  servingUrl: string,
): Promise<Row> {
  const token = await logIn(tenant.host);
  const read = () =>
    exchange({ method: 'GET', path, host: tenant.host, headers: { authorization: `Bearer ${token}` } });
  const sqlTexts = [enter(caller), ...statements].map((statement) => inline(statement));
  await timeCalls(read, 50);
  const rounds = [];
  let client = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await timeTransaction(servingUrl, sqlTexts, 100);
    client = theirs.client;
    rounds.push({ theirs: theirs.ms, ours: await timeCalls(read, 100) });
  }
  const { ours, theirs } = median(rounds);
  return { name, ours, theirs, unit: 'ms', against: `${client}, the same statements`, ratio: ours / theirs };
}

async function timeCalls(call: () => Promise<unknown>, times: number): Promise<number> {
  const started = performance.now();
  for (let n = 0; n < times; n += 1) await call();
  return (performance.now() - started) / times;
}

async function adminOf(tenant: BenchTenant, ownerUrl: string): Promise<UserCaller> {
  const userId = await withClient(ownerUrl, async (client) => {
    const sql = "select id from users where tenant_id = $1 and username = 'admin'";
    const { rows } = await client.query<{ id: string }>(sql, [tenant.id]);
    return rows[0]?.id ?? '';
  });
  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  return {
    kind: 'user',
    tenantId: tenant.id,
    userId,
    role: 'admin',
    courierId: null,
    tokenVersion: 1,
    expiresAt,
  };
}
