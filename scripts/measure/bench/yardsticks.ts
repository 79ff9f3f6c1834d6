import { fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { medianOrNone } from '../rig/statistics.js';
import { cpuBetween, makeCpuMeter, processCpuMs, type CpuMeter } from '../rig/cpu.js';
import { runLoad } from './run-load.js';
import { costOfTransaction, timeCopyFrom } from './postgres.js';
import type { Scale } from '../rig/scale.js';

/**
 * The least that any service needs, measured in the same run, so that figures of different machines and hours can be compared.
 * CPU times are in milliseconds, per request, statement or COPY. Those of PostgreSQL are undefined where /proc does not show them.
 */
export type Yardsticks = {
  /** node:http that reads a small body and sends a small response. */
  bareHttpMs: number | undefined;
  /** One INSERT of a pre-alert's columns, committed, into a table with two indexes. */
  bareInsertMs: number | undefined;
  /** One SELECT of a row by the second index. */
  bareSelectMs: number | undefined;
  /** COPY of the scale's uploaded rows into the same table. `copyWallMs` is its duration. */
  bareCopyMs: number | undefined;
  copyWallMs: number | undefined;
  copiedRows: number;
};

export type BareName = 'bareInsertMs' | 'bareSelectMs' | 'bareCopyMs';

const CREATE = `drop table if exists bench_bare;
  create table bench_bare (tenant_id uuid not null, id uuid primary key, tracking_number text not null, user_code text,
    vendor text, created_at timestamptz not null default now());
  create index bench_bare_number on bench_bare (tenant_id, tracking_number)`;

/** Single measurements of a statement that takes 0.05 ms differed by a factor of three. */
const ROUNDS = 5;

export async function measureYardsticks(ownerUrl: string, scale: Scale): Promise<Yardsticks> {
  const meter = await makeCpuMeter(process.pid, ownerUrl);
  await withClient(ownerUrl, (client) => client.query(CREATE));
  try {
    const tenantId = randomUUID();
    const insert = `insert into bench_bare (tenant_id, id, tracking_number, user_code)
      values ('${tenantId}', gen_random_uuid(), 'PGB' || :n, 'IEX-1001')`;
    const costOf = async (statement: string) => {
      const costs: (number | undefined)[] = [];
      for (let round = 0; round < (scale.name === 'full' ? ROUNDS : 1); round += 1)
        costs.push((await costOfTransaction(ownerUrl, [statement], scale, meter)).postgresMs);
      return medianOrNone(costs);
    };
    const bareInsertMs = await costOf(insert);
    const select = `select * from bench_bare where tenant_id = '${tenantId}' and tracking_number = 'PGB' || :n`;
    const bareSelectMs = await costOf(select);
    const copied = await copyRows(meter, ownerUrl, scale.uploaded);
    const bareHttpMs = await bareHttp(scale);
    return { bareHttpMs, bareInsertMs, bareSelectMs, ...copied, copiedRows: scale.uploaded };
  } finally {
    await withClient(ownerUrl, (client) => client.query('drop table bench_bare'));
  }
}

async function copyRows(meter: CpuMeter | undefined, url: string, count: number) {
  const tenantId = randomUUID();
  const lines = Array.from({ length: count }, (_, n) => `${tenantId},${randomUUID()},COPY-${n},IEX-${n}`);
  const before = meter?.();
  const copyWallMs = await timeCopyFrom(url, lines, 'bench_bare (tenant_id, id, tracking_number, user_code)');
  return { copyWallMs, bareCopyMs: before && meter && cpuBetween(before, meter(), 1).postgresMs };
}

async function bareHttp(scale: Scale): Promise<number | undefined> {
  const options = { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] as ForkOptions['stdio'] };
  const server = fork(new URL('./programs/bare-server.js', import.meta.url), options);
  const pid = server.pid ?? 0;
  try {
    const [port] = (await once(server, 'message')) as [number];
    const template = { method: 'POST', path: '/', host: 'localhost', headers: {}, body: '{"number":"{n}"}' };
    const load = { port, template, connections: 20, ...scale.load };
    await runLoad({ ...load, requests: 200 });
    const before = processCpuMs(pid);
    const { completed } = await runLoad(load);
    const after = processCpuMs(pid);
    return before === undefined || after === undefined ? undefined : (after - before) / completed;
  } finally {
    server.kill();
  }
}
