import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { faultOfAttempts, faultOfBatch } from '../../sdk-tools/faults/check.js';
import type { Attempt } from '../../sdk-tools/faults/proxy.js';
import { packageVersion } from '../../src/config/project-root.js';
import { FAULT_CASES } from '../support/sdk/fault-cases.js';
import { faultLanguages } from '../support/sdk/fault-languages.js';
import { runFaultCases, type Outcome } from '../support/sdk/fault-run.js';
import { startService, type Service } from '../support/service/service.js';
import { buildSdk } from './programs/build-sdk.js';

// Every SDK against a proxy that loses, cuts and delays responses: each call ends right, within its time limit.

const LANGUAGES = await faultLanguages();

/** What the programs submit as a batch. */
const BATCH_LINES = 300;

/** For a machine that does other work at the same time. A call that waits for ever takes longer. */
const SLOWNESS_SECONDS = 20;

let service: Service;

beforeAll(async () => {
  await buildSdk();
  service = await startService();
}, 180_000);
afterAll(() => service.stop());

/** Seconds from the first attempt to the end of the last. */
function durationOf(attempts: Attempt[]): number {
  const [first, last] = [attempts.at(0), attempts.at(-1)];
  return first && last ? ((last.endMs ?? Infinity) - first.atMs) / 1000 : Infinity;
}

describe.each(LANGUAGES)('$name', (language) => {
  const { userAgent, missing } = language;
  const builtTest = missing === undefined ? test : test.skip;
  const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
  let outcomes: Map<string, Outcome>;

  beforeAll(async () => {
    if (missing === undefined) outcomes = await runFaultCases(language, FAULT_CASES, service.url);
  }, 180_000);

  builtTest.each(FAULT_CASES)(`$title${skipped}`, (expected) => {
    const { report, attempts, output } = outcomes.get(expected.title) ?? {};
    if (!report || !attempts) throw new Error(`The program reports nothing:\n${output}`);
    const ending = report.error === undefined ? 'value' : (report.status ?? report.error);
    expect(ending).toBe(expected.ends);
    const [least, most = least] = [expected.attempts].flat();
    expect(attempts.length).toBeGreaterThanOrEqual(least ?? 0);
    expect(attempts.length).toBeLessThanOrEqual(most ?? 0);
    if (expected.action === 'submit') expect(faultOfAttempts(attempts, attempts.length)).toBeUndefined();
    if (expected.action === 'batch' && expected.ends === 'value') {
      expect(report.value).toBe(BATCH_LINES);
      expect(faultOfBatch(attempts, BATCH_LINES)).toBeUndefined();
    }
    expect(durationOf(attempts)).toBeLessThan(expected.withinSeconds + SLOWNESS_SECONDS);
  });

  builtTest(`every request has the SDK and its version as User-Agent${skipped}`, () => {
    const agents = [...outcomes.values()].flatMap(({ attempts }) => attempts.map((each) => each.userAgent));
    expect(agents.filter((agent) => !agent?.startsWith(`${userAgent}${packageVersion()}`))).toEqual([]);
    expect(agents.length).toBeGreaterThan(FAULT_CASES.length);
  });
});
