import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Sql } from '../../../src/platform/db/statements.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import type { CpuMeter } from '../rig/cpu.js';
import type { Scale } from '../rig/scale.js';

/** A vacuum of the largest table takes about a minute. */
const MAX_VACUUM_MS = 180_000;

/** Waits for the end of automatic vacuums that earlier rows have caused. Their CPU time would count as the next row's. */
export async function waitForVacuums(url: string): Promise<void> {
  const deadline = Date.now() + MAX_VACUUM_MS;
  await withClient(url, async (client) => {
    const running = `select 1 from pg_stat_activity where backend_type = 'autovacuum worker'`;
    while (Date.now() < deadline && (await client.query(running)).rows.length > 0) await sleep(500);
  });
}

/** Returns a statement with its values inlined, for psql and pgbench. */
export function inline(statement: Sql, expressions: Record<string, string> = {}): string {
  return statement.text.replace(/\$(\d+)/g, (_, position: string) => {
    const value: unknown = statement.values[Number(position) - 1];
    return Array.isArray(value)
      ? `array[${value.map((element) => expressionOf(element, expressions)).join(', ')}]`
      : expressionOf(value, expressions);
  });
}

const expressionOf = (value: unknown, expressions: Record<string, string>): string =>
  (typeof value === 'string' ? expressions[value] : undefined) ?? literal(value);

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (value instanceof Date) return literal(value.toISOString());
  if (typeof value !== 'string') throw new Error(`The bench cannot inline a value of type ${typeof value}.`);
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns the path of a PostgreSQL client program, from PATH or the distribution's folder. */
function findProgram(name: string): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...(existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : []),
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Returns the average milliseconds that PostgreSQL's own client needs for a transaction of these statements.
 */
export async function timeTransaction(
  url: string,
  statements: string[],
  times: number,
): Promise<{ ms: number; client: string }> {
  const psql = findProgram('psql');
  return psql
    ? { ms: timeWithPsql(psql, url, statements, times), client: 'psql' }
    : { ms: await timeWithDriver(url, statements, times), client: 'a bare node-postgres client' };
}

function timeWithPsql(psql: string, url: string, statements: string[], times: number): number {
  const transaction = `${['begin', ...statements, 'commit'].join(';\n')};\n`;
  const run = (repeats: number) => {
    const started = performance.now();
    execFileSync(psql, ['-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', url], {
      input: transaction.repeat(repeats),
    });
    return performance.now() - started;
  };
  // Without the start of the program and its connection, which no service has per request.
  return (run(times) - run(1)) / (times - 1);
}

/** Returns the milliseconds that COPY needs to load these CSV lines into a table. The rows are rolled back. */
export async function timeCopyFrom(url: string, lines: string[], table: string): Promise<number> {
  return withClient(url, async (client) => {
    await client.query('begin');
    const startedMs = performance.now();
    const stream = client.query(copyFrom(`copy ${table} from stdin (format csv)`));
    await pipeline(Readable.from(chunksOf(lines, 1_000)), stream);
    const tookMs = performance.now() - startedMs;
    await client.query('rollback');
    return tookMs;
  });
}

const chunksOf = (lines: string[], size: number): string[] =>
  Array.from(
    { length: Math.ceil(lines.length / size) },
    (_, n) => `${lines.slice(n * size, (n + 1) * size).join('\n')}\n`,
  );

async function timeWithDriver(url: string, statements: string[], times: number): Promise<number> {
  return withClient(url, async (client) => {
    const started = performance.now();
    for (let n = 0; n < times; n += 1) {
      for (const statement of ['begin', ...statements, 'commit']) await client.query(statement);
    }
    return (performance.now() - started) / times;
  });
}

/** `postgresMs` is PostgreSQL's CPU time per transaction. */
export type TransactionCost = { rate: number; postgresMs: number | undefined; client: string };

/** The connections, and how long each repeats the transaction. */
type Amount = { clients: number } & ({ seconds: number } | { transactions: number });

/**
 * Measures a transaction of these statements as the service would send it: prepared, and pipelined if pgbench is installed.
 * `:n` becomes a new number in each transaction. The cost of the connections is measured apart and subtracted.
 */
export async function costOfTransaction(
  url: string,
  statements: string[],
  { name, seconds, clients }: Scale,
  meter: CpuMeter | undefined,
): Promise<TransactionCost> {
  const pgbench = findProgram('pgbench');
  const run = (amount: Amount) =>
    pgbench ? runPgbench(pgbench, url, statements, amount) : runDriver(url, statements, amount);
  const startMs = meter?.().postgresMs;
  const first = await run({ clients, transactions: 1 });
  const middleMs = meter?.().postgresMs;
  const whole = await run({ clients, ...(name === 'smoke' ? { transactions: 5 } : { seconds }) });
  const endMs = meter?.().postgresMs;
  const isKnown = startMs !== undefined && middleMs !== undefined && endMs !== undefined;
  const usedMs = isKnown ? endMs - middleMs - (middleMs - startMs) : undefined;
  return {
    rate: whole.count / whole.seconds,
    postgresMs: usedMs && Math.max(0, usedMs / (whole.count - first.count)),
    client: pgbench ? 'pgbench' : 'node-postgres',
  };
}

type Transactions = { count: number; seconds: number };

function runPgbench(pgbench: string, url: string, statements: string[], amount: Amount): Transactions {
  const folder = mkdtempSync(join(tmpdir(), 'crossdock-bench-'));
  const script = join(folder, 'script.sql');
  const lines = statements.map((statement) => `${statement.replace(/\s+/g, ' ')};`);
  const numbered = ['\\set n random(1, 1000000000000)', '\\startpipeline', 'begin;', ...lines, 'commit;'];
  writeFileSync(script, [...numbered, '\\endpipeline'].join('\n'));
  const limit = 'seconds' in amount ? ['-T', String(amount.seconds)] : ['-t', String(amount.transactions)];
  const args = ['-n', '-M', 'prepared', '-c', String(amount.clients), ...limit, '-f', script, url];
  try {
    const startedMs = performance.now();
    // Its status is 2 if a statement failed, and it then counts no failed transaction.
    const { stdout, stderr, status } = spawnSync(pgbench, args, { encoding: 'utf8' });
    const [, count] = /^number of transactions actually processed: (\d+)/m.exec(stdout) ?? [];
    if (status !== 0 || !count || !/number of failed transactions: 0 /.test(stdout))
      throw new Error(`pgbench failed: ${stderr}${stdout}`);
    return { count: Number(count), seconds: (performance.now() - startedMs) / 1000 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runDriver(url: string, statements: string[], amount: Amount): Promise<Transactions> {
  const startedMs = performance.now();
  let count = 0;
  const isOver = (done: number) =>
    'seconds' in amount
      ? performance.now() >= startedMs + amount.seconds * 1000
      : done >= amount.transactions;
  const work = () =>
    withClient(url, async (client) => {
      for (let done = 0; !isOver(done); done += 1) {
        const n = String(Math.floor(Math.random() * 1e12));
        const filled = statements.map((statement) => statement.replaceAll(':n', n));
        await Promise.all(['begin', ...filled, 'commit'].map((statement) => client.query(statement)));
        count += 1;
      }
    });
  await Promise.all(Array.from({ length: amount.clients }, work));
  return { count, seconds: (performance.now() - startedMs) / 1000 };
}
