import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { processCpuMs, type CpuMeter } from '../rig/cpu.js';
import { runBulk } from './bulk.js';
import type { PressureTenant } from './database.js';
import type { Processes } from './processes.js';
import type { MixedLoad, MixedLoadResult, Stream } from './programs/mixed-load.js';
import type { Phase, PoolWaits } from './report.js';
import type { Scale } from './scale.js';

export type PhaseInput = {
  processes: Processes;
  meter: CpuMeter | undefined;
  tenant: PressureTenant;
  token: string;
  streams: Stream[];
  scale: Scale;
  seconds: number;
};

/** Idle threads of the service end after ten seconds. */
const SETTLE_MS = 15_000;

/** Runs the light requests, the logins and the bulk work at the same time. */
export async function runPhase(input: PhaseInput): Promise<Phase> {
  const { processes, tenant, token, streams, scale, seconds } = input;
  const { service, worker, port, metricsPort } = processes;
  const waitsBefore = await readWaits(metricsPort);
  await Promise.all([service.probe(), worker.probe()]);
  const readCpu = startCpu(input);
  const [load, bulk] = await Promise.all([
    runLoad({ port, seconds, streams }),
    runBulk({ port, tenant, token }, scale, seconds),
  ]);
  const cpu = readCpu(load);
  const [probed, probedWorker] = await Promise.all([service.probe(), worker.probe()]);
  const waits = subtract(await readWaits(metricsPort), waitsBefore);
  const memory = await readMemory(processes, scale);
  return { seconds, load, bulk, service: probed, worker: probedWorker, waits, cpu, memory };
}

export async function runLoad(load: MixedLoad): Promise<MixedLoadResult> {
  const child = fork(new URL('./programs/mixed-load.js', import.meta.url));
  child.send(load);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The load generator ended early.')));
  // The program's only message is its result.
  const [result] = (await Promise.race([once(child, 'message'), ended])) as [MixedLoadResult];
  return result;
}

/** Returns a function that returns the share of a core that each process has used since. */
function startCpu({ processes: { worker }, meter }: PhaseInput): (load: MixedLoadResult) => Phase['cpu'] {
  const startedMs = performance.now();
  const read = () => ({
    ...meter?.(),
    worker: processCpuMs(worker.pid),
    own: process.cpuUsage(),
    machine: machineCpuMs(),
  });
  const before = read();
  return (load) => {
    const after = read();
    const elapsedMs = performance.now() - startedMs;
    const share = (from = NaN, to = NaN) => (to - from) / elapsedMs;
    const own = (after.own.user + after.own.system - before.own.user - before.own.system) / 1_000;
    if (!meter) return undefined;
    const used = {
      service: share(before.serviceMs, after.serviceMs),
      postgres: share(before.postgresMs, after.postgresMs),
      worker: share(before.worker, after.worker),
      load: load.cpuMs / elapsedMs,
      bulkClient: own / elapsedMs,
    };
    const sum = Object.values(used).reduce((total, each) => total + each, 0);
    return { ...used, others: share(before.machine, after.machine) - sum };
  };
}

/** The time that all programs together have used the processors. */
const machineCpuMs = () =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

async function readMemory({ service, worker }: Processes, { name }: Scale): Promise<Phase['memory']> {
  if (name === 'full') await sleep(SETTLE_MS);
  const probed = await Promise.all([service, worker].map((each) => each.probe({ collectsGarbage: true })));
  const [ofService, ofWorker] = probed.map(({ memory }) => memory);
  if (!ofService || !ofWorker) throw new Error('A process was not probed.');
  return { service: ofService, worker: ofWorker };
}

/** Reads the service's histogram of waits for a connection. */
async function readWaits(metricsPort: number): Promise<PoolWaits> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const valueOf = (series: string) => {
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };
  const name = 'crossdock_pool_wait_seconds';
  const transactions = valueOf(`${name}_count{pool="service"}`);
  const bounds = [0.005, 0.1, 0.5, 1];
  return {
    transactions,
    totalSeconds: valueOf(`${name}_sum{pool="service"}`),
    longerThan: new Map(
      bounds.map((bound) => [bound, transactions - valueOf(`${name}_bucket{le="${bound}",pool="service"}`)]),
    ),
  };
}

const subtract = (after: PoolWaits, before: PoolWaits): PoolWaits => ({
  transactions: after.transactions - before.transactions,
  totalSeconds: after.totalSeconds - before.totalSeconds,
  longerThan: new Map(
    [...after.longerThan].map(([bound, count]) => [bound, count - (before.longerThan.get(bound) ?? 0)]),
  ),
});
