import type { Caller, UserCaller } from '../../src/platform/identity/callers.js';
import { enterScope } from '../../src/platform/db/admission.js';
import { makeContext, type RequestContext } from '../../src/platform/context/request-context.js';
import type { Db } from '../../src/platform/db/database.js';
import type { Sql } from '../../src/platform/db/statements.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import type { BenchTenant } from './database.js';
import { inline, timeTransaction } from './postgres.js';
import type { Scale } from './scale.js';
import { exchange, logIn, type Exchange } from './service.js';

/** One line of the report: the service's figure, PostgreSQL's figure, and what it was compared with. */
export type Row = {
  name: string;
  measured: number;
  reference: number;
  unit: string;
  against: string;
  ratio: number;
};

/** The servers and tenants that the rows measure. */
export type Bench = {
  servingUrl: string;
  ownerUrl: string;
  port: number;
  small: BenchTenant;
  large: BenchTenant;
  scale: Scale;
};

// Statement builders use only this property of the Db.
export const filters = { applicationFilters: true } as Db;

/** A context for statement builders alone: it has no connection. */
export const contextOf = <Who extends Caller>(caller: Who): RequestContext<Who> =>
  makeContext(filters, caller, 'bench');

export const median = (rounds: { measured: number; reference: number }[]) => {
  const sorted = [...rounds].sort((a, b) => a.measured / a.reference - b.measured / b.reference);
  return sorted[Math.floor(sorted.length / 2)] ?? { measured: NaN, reference: NaN };
};

/** Measures both sides alternately and returns the median round. */
export async function compare(
  { rounds: count }: Scale,
  measured: () => Promise<number>,
  reference: () => Promise<number> | number,
): Promise<{ measured: number; reference: number; ratio: number }> {
  const rounds = [];
  for (let round = 0; round < count; round += 1)
    rounds.push({ reference: await reference(), measured: await measured() });
  const middle = median(rounds);
  return { ...middle, ratio: middle.measured / middle.reference };
}

/** Measures a request of the tenant's administrator over HTTP, and its statements through psql. */
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
      const reference = await timeTransaction(bench.servingUrl, sqlTexts, times);
      client = reference.client;
      return reference.ms;
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
