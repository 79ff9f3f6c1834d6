import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '../../src/platform/db/statements.js';
import { withClient } from '../../src/platform/db/connections/roles.js';

/** Returns a statement with its values inlined, for psql and pgbench. */
export function inline(statement: Sql, expressions: Record<string, string> = {}): string {
  return statement.text.replace(/\$(\d+)/g, (_, position: string) => {
    const value: unknown = statement.values[Number(position) - 1];
    return (typeof value === 'string' ? expressions[value] : undefined) ?? literal(value);
  });
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (value instanceof Date) return literal(value.toISOString());
  if (typeof value !== 'string') throw new Error(`The bench cannot inline a value of type ${typeof value}.`);
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns the path of a PostgreSQL client program, from PATH or the distribution's folder. */
export function findProgram(name: string): string | undefined {
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

/**
 * Returns the milliseconds that psql's COPY needs to load a CSV file into a table, then rolls back. @throws
 * without psql
 */
export function timeCopyFrom(url: string, file: string, table: string): number {
  const psql = findProgram('psql');
  if (!psql) throw new Error('This row needs psql.');
  const started = performance.now();
  execFileSync(psql, ['-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', url], {
    input: `begin;\n\\copy ${table} from '${file}' (format csv)\nrollback;\n`,
  });
  rmSync(file);
  return performance.now() - started;
}

async function timeWithDriver(url: string, statements: string[], times: number): Promise<number> {
  return withClient(url, async (client) => {
    const started = performance.now();
    for (let n = 0; n < times; n += 1) {
      for (const statement of ['begin', ...statements, 'commit']) await client.query(statement);
    }
    return (performance.now() - started) / times;
  });
}

/**
 * Returns the transactions per second that pgbench reaches with these statements, pipelined as the service
 * sends them.
 */
export function ratePgbench(
  pgbench: string,
  url: string,
  statements: string[],
  clients: number,
  seconds: number,
): number {
  const folder = mkdtempSync(join(tmpdir(), 'crossdock-bench-'));
  const script = join(folder, 'script.sql');
  const lines = statements.map((statement) => `${statement.replace(/\s+/g, ' ')};`);
  writeFileSync(
    script,
    [
      '\\set n random(1, 1000000000000)',
      '\\startpipeline',
      'begin;',
      ...lines,
      'commit;',
      '\\endpipeline',
    ].join('\n'),
  );
  try {
    const { stdout, stderr } = spawnSync(
      pgbench,
      ['-n', '-M', 'prepared', '-c', String(clients), '-T', String(seconds), '-f', script, url],
      { encoding: 'utf8' },
    );
    const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
    if (!rate || !/number of failed transactions: 0 /.test(stdout))
      throw new Error(`pgbench failed: ${stderr}${stdout}`);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the same rate with bare node-postgres, for machines without pgbench. */
export async function rateDriver(
  url: string,
  statements: (n: number) => string[],
  clients: number,
  seconds: number,
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const work = () =>
    withClient(url, async (client) => {
      while (performance.now() < until) {
        const sent = statements(Math.floor(Math.random() * 1e12)).map((statement) => client.query(statement));
        await Promise.all(sent);
        done += 1;
      }
    });
  await Promise.all(Array.from({ length: clients }, work));
  return done / seconds;
}
