import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAULTS, type Fault } from '../../sdk-tools/faults/faults.js';
import { startFaultProxy, type FaultPlan, type FaultProxy } from '../../sdk-tools/faults/proxy.js';
import { RETRIES } from '../../sdk-tools/retries.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { rounds } from '../support/harness/effort.js';
import { inTurn } from '../support/samples/in-turn.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { ODD_ID, startOddServer, type OddServer } from '../support/samples/odd-server.js';
import { RETRY_SAMPLES, type RetrySample } from '../support/samples/retry-samples.js';
import { startService, type Service } from '../support/service/service.js';

/** The longest time of a test. Most of it is pauses. */
const LIMIT_MS = 180_000;

let service: Service;
let odd: OddServer;

beforeAll(async () => {
  [service, odd] = await Promise.all([startService(), startOddServer()]);
});

afterAll(async () => {
  await Promise.all([service.stop(), odd.stop()]);
});

/** Timers of some languages fire a little early, and a busy machine notices the first attempt late. */
const EARLY_SECONDS = 0.2;
/** What an attempt needs besides, on a machine with much other work. */
const SLOW_SECONDS = 3;

type Outcome = { trackingNumber: string; seconds: number; output: string; isSuccess: boolean };

/**
 * Announces a parcel with the published function, and returns what it printed.
 *
 * @param limit the time limit of an attempt, in seconds. The samples have 30.
 */
async function announce(
  sample: RetrySample,
  host: string,
  limit = 10,
  number = randomUUID(),
): Promise<Outcome> {
  const [program, ...args] = sample.command;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    URL: `${host}/api/Prealert.php`,
    API_KEY: DEMO.apiKeys.IEX,
    KEY: randomUUID(),
    BODY: JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: number }),
    LIMIT: String(limit),
  };
  const startedAt = performance.now();
  const { isSuccess, output } = await outputOf(program, args, env);
  return { trackingNumber: number, seconds: (performance.now() - startedAt) / 1000, output, isSuccess };
}

/** Returns what a program prints, also if it fails. */
const outputOf = (program: string, args: string[], env: NodeJS.ProcessEnv) =>
  new Promise<{ isSuccess: boolean; output: string }>((resolve) => {
    execFile(program, args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: error === null ? stdout : stdout + stderr }),
    );
  });

async function throughFaults(sample: RetrySample, plan: FaultPlan, limit?: number) {
  const proxy = await startFaultProxy(service.url, plan);
  try {
    const outcome = await announce(sample, proxy.url, limit);
    return { ...outcome, attempts: proxy.attempts };
  } finally {
    await proxy.stop();
  }
}

const storedIds = async (search: string): Promise<string[]> => {
  const { body } = await service.call('listPrealerts', { as: 'iex', query: { search } });
  return body['data'].map(({ prealert_id }: { prealert_id: string }) => prealert_id);
};

/** Returns the seconds from each attempt to the next. They are at least the pause. */
const pausesOf = (attempts: FaultProxy['attempts']) =>
  attempts.slice(1).map(({ atMs }, n) => (atMs - (attempts[n]?.atMs ?? 0)) / 1000);

/** The fault that asks to wait for longer than the table allows. */
const TOO_LONG: Fault = 'http_429_hour';
/** The fault of bodies that are longer than that of one pre-alert. */
const OF_BATCHES: Fault = 'slow_line';
/** Statuses of CDNs, of which one stands for all in the gate: the samples list them in one place. */
const isOneOfMany = (fault: Fault) => /^http_5[23]\d$/.test(fault) && fault !== 'http_524';
// The keys of the table are its faults.
const faults = (Object.keys(FAULTS) as Fault[]).filter(
  (fault) => fault !== TOO_LONG && fault !== OF_BATCHES && (rounds(0, 1) === 1 || !isOneOfMany(fault)),
);
/** Seconds of `Retry-After`. A date has whole seconds. */
const asked: Partial<Record<Fault, number>> = { http_429: 1, http_429_date: 1, in_progress: 1, http_503: 1 };
const shortest = RETRIES.pause.first_seconds * (1 - RETRIES.pause.jitter);

test('every status of the table of retries has a fault', () => {
  const named = RETRIES.statuses.map(({ status, code }) => (code ? 'in_progress' : `http_${status}`));
  expect(named.filter((name) => !(name in FAULTS))).toEqual([]);
});

const isRunnable = ({ programs }: RetrySample) => programs.every((name) => findProgram(name));
const samples = RETRY_SAMPLES.filter(isRunnable);
const missing = RETRY_SAMPLES.filter((sample) => !isRunnable(sample)).map(({ language }) => language);

/** Declares a test of all languages at once, because most of its time is pauses. */
const runs = (title: string, run: () => Promise<void>) => test(titleWith(title, missing), run, LIMIT_MS);

/** Runs `work` with each sample and item, and returns the results with the name of the language. */
const inEach = async <Item, Result extends object>(
  items: Item[],
  work: (sample: RetrySample, item: Item) => Promise<Result>,
): Promise<(Result & { language: string })[]> => {
  const pairs = samples.flatMap((sample) => items.map((item) => ({ sample, item })));
  return inTurn(
    pairs,
    async ({ sample, item }) => ({ language: sample.language, ...(await work(sample, item)) }),
    8,
  );
};

const inEveryLanguage = <Expected extends object>(items: Expected[]) =>
  samples.flatMap(({ language }) => items.map((item) => ({ language, ...item })));

describe('each published function', () => {
  runs('sends the same request again after each fault, and announces the parcel once', async () => {
    const outcomes = await inEach(faults, async (sample, fault) => {
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
        // The body of a connection that was reset was not read.
        bodies: new Set(attempts.map(({ body }) => body).filter(Boolean)).size,
        stored: ids.length,
        isReturned: ids.every((id) => output.includes(id)),
        hasWaited: pause >= (asked[fault] ?? shortest) - EARLY_SECONDS,
      };
    });
    const each = {
      isSuccess: true,
      attempts: 2,
      keys: 1,
      bodies: 1,
      stored: 1,
      isReturned: true,
      hasWaited: true,
    };
    expect(outcomes).toEqual(inEveryLanguage(faults.map((fault) => ({ fault, ...each }))));
  });

  runs('prints the response once, after several faults in a row', async () => {
    const several: Fault[][] = [['lost', 'cut', 'silent']];
    const outcomes = await inEach(several, async (sample, row) => {
      const { attempts, output, isSuccess } = await throughFaults(sample, { faults: row });
      return { attempts: attempts.length, isSuccess, printed: output.match(/prealert_id/g)?.length };
    });
    expect(outcomes).toEqual(inEveryLanguage([{ attempts: 4, isSuccess: true, printed: 1 }]));
  });

  runs('stops in time when nothing helps: with the failure, or without a response', async () => {
    const endless: Fault[] = ['http_500', 'silent', 'silent_in_body', 'cut'];
    const chosen = endless.slice(0, rounds(2, 4));
    const limit = 2;
    const { first_seconds: first, factor, jitter, longest_seconds: longest } = RETRIES.pause;
    const pauses = Array.from({ length: RETRIES.attempts - 1 }, (_, n) =>
      Math.min(first * factor ** n, longest),
    );
    const most = pauses.reduce((a, b) => a + b) + RETRIES.attempts * (limit + SLOW_SECONDS);
    const outcomes = await inEach(chosen, async (sample, then) => {
      const { attempts, output, seconds } = await throughFaults(sample, { faults: [], then }, limit);
      const early = pausesOf(attempts).filter(
        (pause, n) => pause < (pauses[n] ?? 0) * (1 - jitter) - EARLY_SECONDS,
      );
      return {
        attempts: attempts.length,
        early,
        isInTime: seconds < most,
        says: output.match(/internal_error|No whole response\./)?.[0],
      };
    });
    const expected = { attempts: RETRIES.attempts, early: [], isInTime: true };
    const texts = chosen.map((fault) => (fault === 'http_500' ? 'internal_error' : 'No whole response.'));
    expect(outcomes).toEqual(inEveryLanguage(texts.map((says) => ({ ...expected, says }))));
  });

  runs('returns a final response at once, also one that asks to wait for long', async () => {
    const number = randomUUID();
    const submitted = { key: DEMO.apiKeys.IEX, body: { UserCode: 'IEX-1001', TrackingNumber: number } };
    await service.call('submitPrealert', submitted);
    const paths = ['after-61', 'after-date'];
    const outcomes = await inEach([undefined, TOO_LONG, ...paths], async (sample, path) => {
      if (path === TOO_LONG) {
        const { attempts, output } = await throughFaults(sample, { faults: [TOO_LONG] });
        return { attempts: attempts.length, code: codeIn(output) };
      }
      if (path) {
        const { output } = await announce(sample, `${odd.url}/${sample.language}/${path}`);
        return { attempts: odd.requests(`${sample.language}/${path}`), code: codeIn(output) };
      }
      const proxy = await startFaultProxy(service.url, { faults: [] });
      const { output } = await announce(sample, proxy.url, undefined, number);
      await proxy.stop();
      return { attempts: proxy.attempts.length, code: codeIn(output) };
    });
    const codes = ['duplicate_tracking_number', ...[TOO_LONG, ...paths].map(() => 'too_many_attempts')];
    expect(outcomes).toEqual(inEveryLanguage(codes.map((code) => ({ attempts: 1, code }))));
  });

  runs('hands the key to no host that a redirect names', async () => {
    const statuses = [302, 307];
    const outcomes = await inEach(statuses, async (sample, status) => {
      const { isSuccess } = await announce(sample, `${odd.url}/${sample.language}/redirect-${status}`);
      return { status, isSuccess, followed: odd.requests(`${sample.language}/elsewhere-${status}`) };
    });
    expect(outcomes).toEqual(
      inEveryLanguage(statuses.map((status) => ({ status, isSuccess: false, followed: 0 }))),
    );
  });

  runs('ends an attempt whose response never ends, although bytes arrive all the time', async () => {
    const outcomes = await inEach(['trickle'], async (sample, path) => {
      const { output } = await announce(sample, `${odd.url}/${sample.language}/${path}`, 2);
      return { attempts: odd.requests(`${sample.language}/${path}`), isReturned: output.includes(ODD_ID) };
    });
    expect(outcomes).toEqual(inEveryLanguage([{ attempts: 2, isReturned: true }]));
  });

  test.each(RETRY_SAMPLES)('in $language is published, with the limits of the table', ({ source }) => {
    const published = readFileSync(join(projectRoot, 'generated/site/idempotency.md'), 'utf8');
    expect(published).toContain(source.trimEnd());
    const { attempts, attempt_seconds, last_attempt_seconds, retry_after, statuses } = RETRIES;
    const limits = [attempts, attempt_seconds, last_attempt_seconds, retry_after.longest_seconds];
    const plain = statuses.filter(({ code }) => !code).map(({ status }) => status);
    const found = [...source.matchAll(/\b[\d_]+\b/g)].map(([text]) => Number(text.replace('_', '')));
    const numbers = new Set([...found, ...found.map((milliseconds) => milliseconds / 1000)]);
    expect([...limits, ...plain].filter((number) => !numbers.has(number))).toEqual([]);
  });

  test('in PHP is part of the reference', () => {
    const { info } = JSON.parse(readFileSync(join(projectRoot, 'generated/openapi.json'), 'utf8'));
    const php = RETRY_SAMPLES.find(({ language }) => language === 'PHP');
    expect(info.description).toContain(php?.source.trimEnd());
  });
});

const codeIn = (output: string) => /"code": ?"(\w+)"/.exec(output)?.[1];
