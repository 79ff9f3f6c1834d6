import { figure as withDigits } from '../rig/figure.js';
import type { BulkResult } from './bulk.js';
import type { Latency, MixedLoadResult, StreamResult } from './programs/mixed-load.js';
import type { Probed } from './programs/probe.js';

/** One phase of a run. CPU is in cores: 1 is all of one core's time. */
export type Phase = {
  seconds: number;
  load: MixedLoadResult;
  bulk: BulkResult[];
  service: Probed;
  worker: Probed;
  waits: PoolWaits;
  /** Undefined where /proc does not show it. */
  cpu:
    | { service: number; postgres: number; worker: number; load: number; bulkClient: number; others: number }
    | undefined;
  /** After the phase, when all requests have ended and unused memory has been collected. */
  memory: { service: Probed['memory']; worker: Probed['memory'] };
};

/** Transactions, and those that waited for a connection longer than each bound. */
export type PoolWaits = { transactions: number; longerThan: Map<number, number>; totalSeconds: number };

export function describePhase(phase: Phase): string[] {
  const { load, bulk, service, waits, cpu } = phase;
  return [
    `${'ms'.padEnd(30)}${['requests', 'failed', 'p50', 'p90', 'p99', 'max'].map(right).join('')}`,
    ...load.streams.map(lineOfStream),
    `${'all light requests'.padEnd(30)}${right('')}${right('')}${latency(load.light)}`,
    '',
    ...bulk.map(lineOfBulk),
    ...describeAnswers(phase),
    `Event loop of the service, ms late: p50 ${figure(service.delay.p50)}, p99 ${figure(service.delay.p99)}, max ${figure(service.delay.max)}; longest block by its own work ${figure(service.longestBlockMs)}.`,
    `Waits for a connection: ${describeWaits(waits)}.`,
    cpu
      ? `Cores used: service ${figure(cpu.service)}, PostgreSQL ${figure(cpu.postgres)}, worker ${figure(cpu.worker)}, load generator ${figure(cpu.load)}, client of the bulk work ${figure(cpu.bulkClient)}, all other programs ${figure(cpu.others)}. The load generator was at most ${figure(load.ownDelayMs)} ms late.`
      : 'The CPU times are not visible here.',
    `Memory after the phase: ${describeMemory('service', phase.memory.service)}; ${describeMemory('worker', phase.memory.worker)}.`,
  ];
}

const right = (text: string) => text.padStart(10);

const lineOfStream = ({ name, completed, failed, latency: measured }: StreamResult) =>
  `${name.padEnd(30)}${right(String(completed))}${right(String(failed))}${latency(measured)}`;

const latency = ({ p50, p90, p99, max }: Latency) =>
  [p50, p90, p99, max].map((ms) => right(figure(ms))).join('');

function lineOfBulk({ name, tookMs, failures }: BulkResult): string {
  const seconds = tookMs.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
  return `${name.padEnd(30)} ${tookMs.length} times, ${failures.length} failed; s: ${seconds}`;
}

/** Lists the answers other than success. */
function describeAnswers({ load, bulk }: Phase): string[] {
  const answers = load.streams.flatMap((stream) => {
    const others = Object.entries(stream.answers).filter(([answer]) => !answer.startsWith('2'));
    return others.map(([answer, count]) => `${stream.name}: ${count} x ${answer}`);
  });
  const failures = bulk.flatMap(({ name, failures: each }) => each.map((failure) => `${name}: ${failure}`));
  return [...answers, ...failures];
}

function describeWaits({ transactions, longerThan, totalSeconds }: PoolWaits): string {
  const longer = [...longerThan].filter(([, count]) => count > 0);
  const parts = longer.map(([seconds, count]) => `${count} longer than ${seconds * 1_000} ms`);
  return [`${transactions} transactions`, `${figure(totalSeconds)} s in total`, ...parts].join(', ');
}

function describeMemory(name: string, memory: Probed['memory']): string {
  const { rss, heapUsed, heapTotal, external, otherAnonymous, threads } = memory;
  const other =
    otherAnonymous === undefined ? '' : `, ${megabytes(otherAnonymous)} MB other memory, ${threads} threads`;
  return `${name} ${megabytes(rss)} MB, of which ${megabytes(heapUsed)} MB used heap of ${megabytes(heapTotal)} MB, ${megabytes(external)} MB buffers${other}`;
}

export const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

export const figure = (value: number | undefined): string => withDigits(value, 2);
