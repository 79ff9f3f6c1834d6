import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readContract } from '../../sdk-tools/contract.js';
import { faultOfAttempts, longestPauseMs } from '../../sdk-tools/faults/check.js';
import { operationsOf } from '../../sdk-tools/operations.js';
import { READS, repeatOf } from '../../sdk-tools/repeatable.js';
import { statusRanges } from '../../scripts/contract/site/retries.js';
import { RETRIES, retriedCodes, statusesOf } from '../../sdk-tools/retries.js';
import { failureCodes } from '../../sdk-tools/failure-codes.js';
import { projectRoot } from '../../src/config/project-root.js';

const LANGUAGES = ['go', 'java', 'php', 'python', 'typescript'];

describe('sdk/retries.yaml', () => {
  test('names statuses and codes of the contract, each once, with a rule', async () => {
    const statuses = RETRIES.statuses.map(({ status, code = '' }) => `${status} ${code}`);
    expect(new Set(statuses).size).toBe(statuses.length);
    const codes = await failureCodes();
    expect(retriedCodes().filter((code) => !codes.includes(code))).toEqual([]);
    expect([...statusesOf('always'), ...statusesOf('repeatable')].sort()).toEqual([
      408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530,
    ]);
  });

  test('lets all attempts begin although each takes the whole time limit', () => {
    const pauses = Array.from(
      { length: RETRIES.attempts - 1 },
      (_, index) => longestPauseMs(index + 1) / 1000,
    );
    const begin = (RETRIES.attempts - 1) * RETRIES.attempt_seconds + pauses.reduce((sum, each) => sum + each);
    expect(begin).toBeLessThanOrEqual(RETRIES.last_attempt_seconds);
  });
});

describe('the check of the fault proxy', () => {
  const DATE = new Date('2026-11-27T08:00:02Z');
  const attempt = { method: 'POST', path: '/', key: 'k', userAgent: 'x', body: '{}', fault: undefined };
  const refused = { fault: 'http_429_date', retryAfter: DATE.toUTCString(), atMs: 0 } as const;
  /** The proxy was stopped for a while between the date and the end of its response. */
  const faultOf = (faultMs: number, retryMs: number) =>
    faultOfAttempts(
      [
        { ...attempt, ...refused, atDate: new Date(DATE.getTime() - 1_400), faultMs },
        { ...attempt, atMs: retryMs, atDate: new Date(DATE.getTime() - 1_400 + retryMs) },
      ],
      2,
    );

  test.each([
    [0, 1_400],
    [600, 1_400],
    [0, 9_000],
  ])('accepts a retry at the date or later (proxy late by %i ms)', (faultMs, retryMs) => {
    expect(faultOf(faultMs, retryMs)).toBeUndefined();
  });

  test('finds a retry before the date, and one before the shortest pause', () => {
    expect(faultOf(0, 1_399)).toBe('retry 1 came too early');
    expect(faultOf(1_300, 1_400)).toBe('retry 1 came too early');
  });
});

test.each(LANGUAGES)('the README of the SDK for %s states the rules of sdk/retries.yaml', (language) => {
  const readme = readFileSync(join(projectRoot, 'sdk', language, 'README.md'), 'utf8').replaceAll(
    /\s+/g,
    ' ',
  );
  const numbers = statusRanges(RETRIES.statuses.filter(({ code }) => !code).map(({ status }) => status));
  const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];
  expect(readme).toContain(`${numbers.join(', ')},`);
  expect(readme).toMatch(new RegExp(`(at most|up to) ${words[RETRIES.attempts - 1]} times`));
  const pauses = Array.from({ length: RETRIES.attempts - 1 }, (_, index) => longestPauseMs(index + 1) / 1000);
  expect(readme).toContain(`${pauses.slice(0, -1).join(', ')} and ${pauses.at(-1)} seconds`);
  expect(readme).toContain(`One attempt may take ${RETRIES.attempt_seconds} seconds`);
  expect(readme).toContain(`none begins later than ${RETRIES.last_attempt_seconds} seconds after the first`);
  const always = statusesOf('always').join(', ');
  expect(readme).toContain(`(${always}`);
});

describe('what may be repeated', () => {
  test('an operation without an Idempotency-Key, only if it reads or replaces', async () => {
    const operations = operationsOf(await readContract());
    const never = operations.filter((operation) => repeatOf(operation) === 'never').map(({ id }) => id);
    expect(never.sort()).toEqual([
      'changePassword',
      'deleteCustomer',
      'deletePrealert',
      'login',
      'manageSessions',
      'manageStationWorker',
      'manageTwoFactor',
      'resetPassword',
      'switchWorker',
    ]);
  });

  test('the operations that read with POST exist, and the contract says that they change nothing', async () => {
    const { paths } = await readContract();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    for (const id of READS) {
      const found = operations.find((operation) => operation?.operationId === id);
      // The generator of the contract keeps this extension.
      const exempt = (found as Record<string, unknown> | undefined)?.['x-idempotency-exempt'];
      expect(exempt).toMatch(/^It (changes|stores) nothing/);
    }
  });
});
