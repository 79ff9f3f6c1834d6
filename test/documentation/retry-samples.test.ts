import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAULTS, type Fault } from '../../scripts/sdk/faults/faults.js';
import { startFaultProxy, type FaultPlan, type FaultProxy } from '../../scripts/sdk/faults/proxy.js';
import { RETRIES } from '../../scripts/sdk/retries.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../src/development/demo/seed.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { startOddServer, type OddServer } from '../support/samples/odd-server.js';
import { RETRY_SAMPLES, type RetrySample } from '../support/samples/retry-samples.js';
import { startService, type Service } from '../support/service/service.js';

/** The time limit of an attempt in these tests, in seconds. The samples have 30. */
const LIMIT = 1;
const LIMIT_MS = 120_000;

let service: Service;
let odd: OddServer;

beforeAll(async () => {
  [service, odd] = await Promise.all([startService(), startOddServer()]);
});

afterAll(async () => {
  await Promise.all([service.stop(), odd.stop()]);
});

type Outcome = { trackingNumber: string; seconds: number; output: string; isSuccess: boolean };

/** Announces a parcel with the published function, and returns what it printed. */
async function announce(sample: RetrySample, host: string, number = randomUUID()): Promise<Outcome> {
  const [program, ...args] = sample.command;
  const body = JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: number });
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    URL: `${host}/api/Prealert.php`,
    API_KEY: DEMO.apiKeys.IEX,
    KEY: randomUUID(),
    BODY: body,
    LIMIT: String(LIMIT),
  };
  const startedAt = performance.now();
  const run = promisify(execFile)(program, args, { env, timeout: 60_000 });
  const [isSuccess, output] = await run.then(
    ({ stdout }) => [true, stdout] as const,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => [false, stdout + stderr] as const,
  );
  return { trackingNumber: number, seconds: (performance.now() - startedAt) / 1000, output, isSuccess };
}

async function throughFaults(sample: RetrySample, plan: FaultPlan) {
  const proxy = await startFaultProxy(service.url, plan);
  try {
    const outcome = await announce(sample, proxy.url);
    return { ...outcome, attempts: proxy.attempts };
  } finally {
    await proxy.stop();
  }
}

const storedIds = async (search: string): Promise<string[]> => {
  const { body } = await service.call('listPrealerts', { as: 'iex', query: { search } });
  return body['data'].map(({ prealert_id }: { prealert_id: string }) => prealert_id);
};

const pausesOf = (attempts: FaultProxy['attempts']) =>
  attempts.slice(1).map(({ atMs }, n) => (atMs - (attempts[n]?.endMs ?? 0)) / 1000);

// The keys of the table are its faults.
const faults = Object.keys(FAULTS) as Fault[];
const secondsAsked: Partial<Record<Fault, number>> = { 429: 1, '429_date': 1, in_progress: 1, 503: 1 };

test('every status of the table of retries has a fault', () => {
  const named = RETRIES.statuses.map(({ status, code }) => (code ? 'in_progress' : String(status)));
  expect(named.filter((name) => !(name in FAULTS))).toEqual([]);
});

describe.each(RETRY_SAMPLES)('the function in $language', (sample) => {
  const { programs, source } = sample;
  const missing = programs.filter((name) => !findProgram(name));
  const runs = (title: string, run: () => Promise<void>) =>
    (missing.length === 0 ? test : test.skip)(titleWith(title, missing), run, LIMIT_MS);

  runs('sends the same request again after each fault, and announces the parcel once', async () => {
    const outcomes = faults.map(async (fault) => {
      const { attempts, output, trackingNumber, isSuccess } = await throughFaults(sample, {
        faults: [fault],
      });
      const ids = await storedIds(trackingNumber);
      const [pause = 0] = pausesOf(attempts);
      return {
        fault,
        isSuccess,
        attempts: attempts.length,
        keys: new Set(attempts.map(({ key }) => key)).size,
        // A connection that was reset has no body.
        bodies: new Set(attempts.map(({ body }) => body).filter(Boolean)).size,
        stored: ids.length,
        isReturned: ids.every((id) => output.includes(id)),
        hasWaited: pause >= (secondsAsked[fault] ?? 0.5) - 0.05,
      };
    });
    const expected = {
      isSuccess: true,
      attempts: 2,
      keys: 1,
      bodies: 1,
      stored: 1,
      isReturned: true,
      hasWaited: true,
    };
    expect(await Promise.all(outcomes)).toEqual(faults.map((fault) => ({ fault, ...expected })));
  });

  runs('prints the response once, after several faults in a row', async () => {
    const { attempts, output, isSuccess } = await throughFaults(sample, {
      faults: ['lost', 'cut', 'silent'],
    });
    expect([attempts.length, isSuccess, output.match(/"?prealert_id"?/g)?.length]).toEqual([4, true, 1]);
  });

  runs('stops in time when nothing helps: with the failure, or without a response', async () => {
    const outcomes = await Promise.all(
      ([500, 'silent', 'silent_in_body', 'cut'] as const).map((then) =>
        throughFaults(sample, { faults: [], then }),
      ),
    );
    const [failed, ...silent] = outcomes;
    expect(failed?.output).toContain('internal_error');
    expect(silent.map(({ output }) => output.includes('No whole response.'))).toEqual([true, true, true]);
    const longest = 15 + RETRIES.attempts * LIMIT + 5;
    expect(outcomes.map(({ attempts }) => attempts.length)).toEqual(outcomes.map(() => RETRIES.attempts));
    expect(outcomes.filter(({ seconds }) => seconds > longest)).toEqual([]);
    const { first_seconds: first, factor, jitter } = RETRIES.pause;
    const allowed = pausesOf(failed?.attempts ?? []).map((pause, n) => {
      const most = first * factor ** n;
      return pause >= most * (1 - jitter) - 0.05 && pause <= most + 2;
    });
    expect(allowed).toEqual([true, true, true, true]);
  });

  runs('is content with a final response, and does not wait for a long Retry-After', async () => {
    const number = randomUUID();
    await announce(sample, service.url, number);
    const again = await announce(sample, service.url, number);
    expect(again.output).toContain('duplicate_tracking_number');
    const busy = await Promise.all(
      ['61', 'date'].map((value) => announce(sample, `${odd.url}/after-${value}`)),
    );
    expect(busy.map(({ output }) => output.includes('too_many_attempts'))).toEqual([true, true]);
    expect(busy.filter(({ seconds }) => seconds > 10)).toEqual([]);
    expect([odd.requests('after-61'), odd.requests('after-date')]).toEqual([1, 1]);
  });

  runs('ends an attempt whose response never ends, although bytes arrive all the time', async () => {
    const { output, seconds } = await announce(sample, `${odd.url}/trickle`);
    expect(output).toContain('01930a3e-7c1d-7e11-9c5a-2f4b8d6e0a03');
    expect(seconds).toBeLessThan(15);
  });

  test('is published, with the limits of the table', () => {
    const published = readFileSync(join(projectRoot, 'generated/site/idempotency.md'), 'utf8');
    expect(published).toContain(source.trimEnd());
    const { attempts, attempt_seconds, last_attempt_seconds, retry_after, statuses } = RETRIES;
    const limits = [attempts, attempt_seconds, last_attempt_seconds, retry_after.longest_seconds];
    const plain = statuses.filter(({ code }) => !code).map(({ status }) => status);
    const numbers = new Set(
      [...source.matchAll(/\b[\d_]+\b/g)].map(([text]) => Number(text.replace('_', ''))),
    );
    const missing = [...limits, ...plain].filter(
      (number) => !numbers.has(number) && !numbers.has(number * 1000),
    );
    expect(missing).toEqual([]);
  });
});

test('the reference shows the function in PHP', () => {
  const { info } = JSON.parse(readFileSync(join(projectRoot, 'generated/openapi.json'), 'utf8'));
  const php = RETRY_SAMPLES.find(({ language }) => language === 'PHP');
  expect(info.description).toContain(php?.source.trimEnd());
});
