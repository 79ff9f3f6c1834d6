import type { UserCaller } from '../../src/platform/identity/callers.js';
import { enterScope, type Db, type Sql } from '../../src/platform/db/transaction.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import type { BenchTenant } from './database.js';
import { inline, timeTransaction } from './postgres.js';
import type { Scale } from './scale.js';
import { exchange, logIn, type Exchange } from './service.js';

/** One line of the report: ours, PostgreSQL's own, and what is compared. */
export type Row = {
  name: string;
  ours: number;
  theirs: number;
  unit: string;
  against: string;
  ratio: number;
};

/** Where the rows measure. */
export type Bench = {
  servingUrl: string;
  ownerUrl: string;
  port: number;
  small: BenchTenant;
  large: BenchTenant;
  scale: Scale;
};

// Statement builders need a Db only for its switch.
export const filters = { applicationFilters: true } as Db;

export const median = (rounds: { ours: number; theirs: number }[]) => {
  const sorted = [...rounds].sort((a, b) => a.ours / a.theirs - b.ours / b.theirs);
  return sorted[Math.floor(sorted.length / 2)] ?? { ours: NaN, theirs: NaN };
};

/** Measures both sides in turn, and answers the median round. */
export async function compare(
  { rounds: count }: Scale,
  ours: () => Promise<number>,
  theirs: () => Promise<number> | number,
): Promise<{ ours: number; theirs: number; ratio: number }> {
  const rounds = [];
  for (let round = 0; round < count; round += 1) rounds.push({ theirs: await theirs(), ours: await ours() });
  const middle = median(rounds);
  return { ...middle, ratio: middle.ours / middle.theirs };
}

/** A call as the tenant's administrator, over HTTP and as its statements through psql. */
export async function readRow(
  bench: Bench,
  tenant: BenchTenant,
  {
    name,
    times: usualTimes,
    call,
    statements,
  }: {
    name: string;
    times: number;
    call: Pick<Exchange, 'method' | 'path' | 'body'>;
    statements: (caller: UserCaller) => Sql[];
  },
): Promise<Row> {
  const times = bench.scale.times(usualTimes);
  const caller = await adminOf(tenant, bench.ownerUrl);
  const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
  const read = () => exchange({ ...call, host: tenant.host, headers });
  const sqlTexts = [enterScope(caller), ...statements(caller)].map((statement) => inline(statement));
  await timeCalls(read, Math.ceil(times / 2));
  let client = '';
  const compared = await compare(
    bench.scale,
    () => timeCalls(read, times),
    async () => {
      const theirs = await timeTransaction(bench.servingUrl, sqlTexts, times);
      client = theirs.client;
      return theirs.ms;
    },
  );
  return { name, ...compared, unit: 'ms', against: `${client}, the same statements` };
}

export async function timeCalls(call: () => Promise<unknown>, times: number): Promise<number> {
  const started = performance.now();
  for (let n = 0; n < times; n += 1) await call();
  return (performance.now() - started) / times;
}

export async function adminOf(tenant: BenchTenant, ownerUrl: string): Promise<UserCaller> {
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
