import type { Caller, UserCaller } from '../../../src/platform/identity/callers.js';
import { enterScope } from '../../../src/platform/db/transactions/admission.js';
import { makeContext, type RequestContext } from '../../../src/platform/context/request-context.js';
import type { Db } from '../../../src/platform/db/database.js';
import type { Sql } from '../../../src/platform/db/statements.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { cpuBetween, type CpuMeter, type CpuTime } from '../rig/cpu.js';
import type { BenchTenant } from '../rig/tenants.js';
import { median, medianOrNone } from '../rig/statistics.js';
import { costOfTransaction, inline, timeTransaction, type TransactionCost } from './postgres.js';
import type { Load, LoadResult, RequestTemplate } from './programs/request-load.js';
import { runLoad } from './run-load.js';
import type { Scale } from '../rig/scale.js';
import { exchange, logIn, type Exchange } from '../rig/service.js';
import type { BareName } from './yardsticks.js';

/** One line of the report. CPU times are in milliseconds per request, line, delivery or call. */
export type Row = {
  name: string;
  /** Requests, lines or deliveries per second, or milliseconds per call. */
  measured: number;
  unit: '/s' | 'ms';
  /** Undefined where /proc does not show the CPU time. */
  cpu?: CpuTime | undefined;
  /** What the figures are compared with in the same run, usually the same statements without the service. */
  against?: { what: string; measured: number; postgresMs?: number | undefined };
  /** The yardstick of PostgreSQL's CPU time. */
  bare?: BareName;
  /** Milliseconds at half of the measured rate. */
  latency?: LoadResult['latency'];
};

/** The servers and tenants that the rows measure. */
export type Bench = {
  servingUrl: string;
  ownerUrl: string;
  port: number;
  small: BenchTenant;
  large: BenchTenant;
  scale: Scale;
  meter: CpuMeter | undefined;
};

// Statement builders use only this property of the Db.
export const filters = { applicationFilters: true } as Db;

/** A context for statement builders alone: it has no connection. */
export const contextOf = <Who extends Caller>(caller: Who): RequestContext<Who> =>
  makeContext(filters, caller, 'bench');

/** The connections of the load: as many as one tenant gets of the service's pool. */
const CONNECTIONS = 8;

export type RateSpec = {
  name: string;
  template: RequestTemplate;
  /** The statements of one request as text; `:n` becomes a new number. */
  statements?: string[];
  bare: BareName;
  connections?: number;
};

/**
 * Sends requests as fast as the service responds, alternating with the same statements in PostgreSQL, then at half of that rate
 * for the latencies. Each figure is the median of the rounds.
 */
export async function rateRow(bench: Bench, spec: RateSpec): Promise<Row> {
  const { scale } = bench;
  const { template, statements, connections = CONNECTIONS } = spec;
  const load = { port: bench.port, template, connections, ...scale.load };
  const perRequest = template.lines ?? 1;
  let sent = 0;
  const send = async (given: Partial<Load> = {}) => {
    const result = await runLoad({ ...load, first: sent, ...given });
    sent += result.sent;
    return result;
  };
  await send({ requests: Math.min(load.requests ?? Infinity, 20 * connections) });
  const rounds: { rate: number; cpu: CpuTime | undefined }[] = [];
  const same: TransactionCost[] = [];
  for (let round = 0; round < scale.rounds; round += 1) {
    if (statements) same.push(await costOfTransaction(bench.servingUrl, statements, scale, bench.meter));
    const before = bench.meter?.();
    const { completed, seconds } = await send();
    const items = completed * perRequest;
    rounds.push({ rate: items / seconds, cpu: cpuSince(bench.meter, before, items) });
  }
  const rate = median(rounds.map((each) => each.rate));
  const { latency } = await send({ perSecond: rate / perRequest / 2 });
  const [first] = same;
  return {
    name: spec.name,
    measured: rate,
    unit: '/s',
    cpu: medianCpu(rounds.map(({ cpu }) => cpu)),
    bare: spec.bare,
    latency,
    ...(first && {
      against: {
        what: `${first.client}, the same statements`,
        measured: median(same.map((each) => each.rate)),
        postgresMs: medianOrNone(same.map(({ postgresMs }) => postgresMs)),
      },
    }),
  };
}

/** A read of the tenant's administrator, with its statements. */
export async function readRow(
  bench: Bench,
  tenant: BenchTenant,
  { name, call, statements }: { name: string; call: ReadCall; statements?: (caller: UserCaller) => Sql[] },
): Promise<Row> {
  const caller = await adminOf(tenant, bench.ownerUrl);
  const template = await templateOf(tenant, call);
  const texts =
    statements && [enterScope(caller), ...statements(caller)].map((statement) => inline(statement));
  return rateRow(bench, { name, template, bare: 'bareSelectMs', ...(texts && { statements: texts }) });
}

type ReadCall = Pick<Exchange, 'method' | 'path' | 'body'> & { values?: string[] };

/** Returns a request of the tenant's administrator for the load generator. */
export async function templateOf(
  { host }: Pick<BenchTenant, 'host'>,
  { method, path, body, values }: ReadCall,
): Promise<RequestTemplate> {
  return {
    method,
    path,
    host,
    headers: { authorization: `Bearer ${await logIn(host)}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(values && { values }),
  };
}

export type CallSpec = {
  name: string;
  call: () => Promise<unknown>;
  /** Removes what the call made. It is not measured. */
  undo?: () => Promise<unknown>;
  /** Calls per round. */
  times?: number;
  against?: { what: string; run: () => Promise<number> };
  bare: BareName;
};

/** Makes one call after another, and returns the milliseconds and the CPU time of one. Each figure is the median of the rounds. */
export async function callRow(
  bench: Bench,
  { name, call, undo, times = 1, against, bare }: CallSpec,
): Promise<Row> {
  const rounds: { ms: number; cpu: CpuTime | undefined }[] = [];
  const others: number[] = [];
  for (let round = 0; round < bench.scale.rounds; round += 1) {
    if (against) others.push(await against.run());
    const before = bench.meter?.();
    const ms = await timeCalls(call, times);
    rounds.push({ ms, cpu: cpuSince(bench.meter, before, times) });
    await undo?.();
  }
  return {
    name,
    measured: median(rounds.map(({ ms }) => ms)),
    unit: 'ms',
    cpu: medianCpu(rounds.map(({ cpu }) => cpu)),
    bare,
    ...(against && { against: { what: against.what, measured: median(others) } }),
  };
}

/** The milliseconds of one transaction of these statements of the tenant's administrator, through psql. */
export const statementsOf = (bench: Bench, statements: string[], times: number) => ({
  what: 'psql, the same statements',
  run: async () => (await timeTransaction(bench.servingUrl, statements, times)).ms,
});

export async function timeCalls(call: () => Promise<unknown>, times: number): Promise<number> {
  const startedMs = performance.now();
  for (let n = 0; n < times; n += 1) await call();
  return (performance.now() - startedMs) / times;
}

export const cpuSince = (meter: CpuMeter | undefined, before: CpuTime | undefined, count: number) =>
  meter && before && cpuBetween(before, meter(), count);

export function medianCpu(times: (CpuTime | undefined)[]): CpuTime | undefined {
  const known = times.filter((each) => each !== undefined);
  return known.length === 0
    ? undefined
    : {
        serviceMs: median(known.map(({ serviceMs }) => serviceMs)),
        postgresMs: median(known.map(({ postgresMs }) => postgresMs)),
      };
}

/** Calls the API as the tenant's administrator. */
export async function administrator({ host }: Pick<BenchTenant, 'host'>) {
  const headers = { authorization: `Bearer ${await logIn(host)}` };
  return (method: string, path: string, body?: unknown) => exchange({ method, path, host, headers, body });
}

export async function adminOf(tenant: Pick<BenchTenant, 'id'>, ownerUrl: string): Promise<UserCaller> {
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
