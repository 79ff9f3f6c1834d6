import { Worker } from 'node:worker_threads';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { Bench, Row } from '../measure.js';
import { exchange } from '../../rig/service.js';

const LOGINS_PER_SECOND = 100;
const PREALERTS_PER_SECOND = 40;

type Flood = { statuses: Record<string, number>; longestMs: number };

/**
 * The 99th percentile of pre-alert submissions during 100 logins per second, compared with the percentile
 * without logins.
 */
export async function floodRow({ port, scale }: Bench, print: (line: string) => void): Promise<Row> {
  const seconds = scale.floodSeconds;
  await percentile99(Math.min(3, seconds));
  const quiet = await percentile99(seconds);
  const worker = new Worker(new URL('../programs/login-flood.js', import.meta.url), {
    workerData: { port, perSecond: LOGINS_PER_SECOND, seconds },
  });
  const flooded = new Promise<Flood>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const underFlood = await percentile99(seconds);
  const { statuses, longestMs } = await flooded;
  print(`logins: ${JSON.stringify(statuses)}, longest response time ${longestMs.toFixed(0)} ms`);
  return {
    name: `pre-alert p99, ${LOGINS_PER_SECOND} logins/s`,
    measured: underFlood,
    unit: 'ms',
    against: { what: 'its p99 without them', measured: quiet },
  };
}

/** Submits pre-alerts at a constant rate, independent of their response times. */
async function percentile99(seconds: number): Promise<number> {
  const run = Math.random().toString(36).slice(2);
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const started = performance.now();
  for (let n = 0; n < seconds * PREALERTS_PER_SECOND; n += 1) {
    const dueAt = started + (n * 1000) / PREALERTS_PER_SECOND;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    calls.push(announce(`FLOOD-${run}-${n}`).then(() => void times.push(performance.now() - dueAt)));
  }
  await Promise.all(calls);
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? NaN;
}

const announce = (number: string) =>
  exchange({
    method: 'POST',
    path: '/api/Prealert.php',
    host: '127.0.0.1',
    headers: { 'x-api-key': DEMO.apiKeys.IEX },
    body: { UserCode: 'IEX-1001', TrackingNumber: number },
  });
