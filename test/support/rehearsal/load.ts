import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { REHEARSAL } from './credentials.js';
import { ask, codeOf, isServed, type Outcome, type Question } from '../service/client.js';

/** A slower machine needs another rate: what it cannot serve is refused with 503. */
const PER_SECOND = Number(process.env['REHEARSE_RATE'] ?? 200);

/** A write that the service has acknowledged. */
export type Acknowledged = { table: 'prealerts' | 'packages'; number: string };

export type LoadReport = {
  requests: number;
  /** The failed requests, by what they asked and how they ended. */
  failures: string[];
  /** The failed requests that got 503 with Retry-After. */
  unavailable: number;
  /** The writes among the failed requests. Whether they were executed is unknown. */
  unknown: { question: Question; write: Acknowledged }[];
  /** Seconds in which at least one response was 503. */
  seconds503: number;
  acknowledged: Acknowledged[];
  seconds: number;
  /** Responses that took longer than a second. */
  slow: number;
  slowestMs: number;
};

export type Load = {
  report: LoadReport;
  /** Waits until the requests of some seconds have been answered. */
  wait(seconds: number): Promise<void>;
  /** Sends no more, and resolves when all are answered. */
  stop(): Promise<LoadReport>;
};

type Entry = { question: Question; write?: Acknowledged };

/** Sends mixed requests at a constant rate: seven tenths read, two announce and one receives packages. */
export function startLoad(url: string, token: string, prefix: string, perSecond = PER_SECOND): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const report: LoadReport = {
    ...{
      requests: 0,
      failures: [],
      unavailable: 0,
      unknown: [],
      seconds503: 0,
      acknowledged: [],
      seconds: 0,
      slow: 0,
      slowestMs: 0,
    },
  };
  const unavailable = new Set<number>();
  const startMs = performance.now();
  const ending = { isOver: false };
  let sent = 0;

  async function askOne(n: number): Promise<void> {
    const { question, write } = entryOf(n, token, prefix);
    const sentMs = performance.now();
    const outcome = await ask(url, question, agent).catch(codeOf);
    const tookMs = performance.now() - sentMs;
    report.requests += 1;
    report.slowestMs = Math.max(report.slowestMs, Math.round(tookMs));
    if (tookMs > 1_000) report.slow += 1;
    if (isServed(outcome)) {
      if (write) report.acknowledged.push(write);
      return;
    }
    if (typeof outcome !== 'string' && outcome.status === 503)
      unavailable.add(Math.floor((performance.now() - startMs) / 1_000));
    if (write) report.unknown.push({ question, write });
    if (typeof outcome !== 'string' && outcome.status === 503 && Number(outcome.headers['retry-after']) > 0)
      report.unavailable += 1;
    report.failures.push(`${question.method ?? 'GET'} ${question.path} ${textOf(outcome)}`);
  }

  const running = (async () => {
    const open = new Set<Promise<void>>();
    while (!ending.isOver) {
      const due = ((performance.now() - startMs) / 1_000) * perSecond;
      while (sent < due) {
        const asked = askOne(sent).finally(() => open.delete(asked));
        open.add(asked);
        sent += 1;
      }
      await sleep(5);
    }
    await Promise.all(open);
  })();
  return {
    report,
    async wait(seconds) {
      const enough = report.requests + seconds * perSecond;
      while (report.requests < enough) await sleep(50);
    },
    async stop() {
      ending.isOver = true;
      await running;
      agent.destroy();
      report.seconds503 = unavailable.size;
      report.seconds = Math.round((performance.now() - startMs) / 1_000);
      return report;
    },
  };
}

const textOf = (outcome: Outcome): string =>
  typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.text.slice(0, 200)}`;

/** Counts the failures by how they ended, without the numbers and ids in them. */
export function countFailures(failures: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const failure of failures) {
    const kind = failure.replace(/"request_id":"[^"]*"/, '').replace(/search=\S*/, '');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function entryOf(n: number, token: string, prefix: string): Entry {
  const staff = { authorization: `Bearer ${token}` };
  const number = `${prefix}-${n}`;
  const post = (path: string, headers: Record<string, string>, body: object): Question => ({
    ...{ method: 'POST', path: `/api/${path}.php`, headers, body },
  });
  switch (n % 10) {
    case 0:
      return { question: post('RetrievePackages', staff, { limit: 20 }) };
    case 1:
      return { question: { path: '/api/ManagePrealerts.php?limit=20', headers: staff } };
    case 2:
      return {
        question: { path: `/api/Events.php?limit=20&courier_id=${DEMO.couriers.IEX}`, headers: staff },
      };
    case 3:
      return { question: post('RetrievePackages', staff, { trackingNumber: `${prefix}-${n - 4}` }) };
    case 4:
      return { question: { path: '/api/ManageWarehouses.php', headers: staff } };
    case 5:
      return { question: { path: `/api/ManagePrealerts.php?search=${prefix}-${n - 8}`, headers: staff } };
    case 6:
      return { question: { path: '/api/WebhookDeliveries.php?limit=20', headers: staff } };
    case 7:
    case 8: {
      // Two couriers, because the counters of one are locked by each of its pre-alerts.
      const [code, key] = COURIERS[n % 2] ?? COURIERS[0];
      return {
        question: post('Prealert', { 'x-api-key': key }, { UserCode: code, TrackingNumber: number }),
        write: { table: 'prealerts', number },
      };
    }
    default: {
      const body = { tracking_number: number, weight: 1.5, user_code: 'IEX-1001' };
      return { question: post('ReceivePackage', staff, body), write: { table: 'packages', number } };
    }
  }
}

const COURIERS = [
  ['IEX-1001', REHEARSAL.apiKeys.IEX],
  ['HRB-2001', REHEARSAL.apiKeys.HRB],
] as const;
