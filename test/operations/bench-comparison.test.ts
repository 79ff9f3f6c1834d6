import { expect, test } from '@jest/globals';
import { compareRuns, stillWorse } from '../../scripts/measure/bench/compare.js';
import { cpuBetween, makeCpuMeter } from '../../scripts/measure/rig/cpu.js';
import type { HistoryEntry } from '../../scripts/measure/bench/report.js';
import { demoDatabase } from '../support/service/database.js';

type Figures = { serviceMs: number; postgresMs: number };

/** A run on a machine that is `slowness` times slower than the first. */
const runOf = (submit: Figures, slowness = 1): HistoryEntry => ({
  at: '2026-11-23T12:00:00.000Z',
  node: 'v20.20.2',
  cores: 2,
  yardsticks: {
    bareHttpMs: 0.1 * slowness,
    bareInsertMs: 0.2 * slowness,
    bareSelectMs: 0.1 * slowness,
    bareCopyMs: 100 * slowness,
    copyWallMs: 100 * slowness,
    copiedRows: 1_000,
  },
  rows: {
    submit: {
      measured: 1_000,
      unit: '/s',
      bare: 'bareInsertMs',
      serviceMs: submit.serviceMs * slowness,
      postgresMs: submit.postgresMs * slowness,
    },
    flood: { measured: 40, unit: 'ms', against: 20 },
  },
});

const worseOf = (before: HistoryEntry, now: HistoryEntry) =>
  compareRuns(before, now)
    .filter(({ isWorse }) => isWorse)
    .map(({ name, what }) => `${name} ${what}`);

const usual = { serviceMs: 0.4, postgresMs: 0.8 };

test.each([
  ['the same figures', usual, 1, []],
  ['a fifth more', { serviceMs: 0.48, postgresMs: 0.96 }, 1, []],
  ['a third more in the service', { serviceMs: 0.54, postgresMs: 0.8 }, 1, ['submit service']],
  ['a third more in PostgreSQL', { serviceMs: 0.4, postgresMs: 1.07 }, 1, ['submit PostgreSQL']],
  ['a machine of half the speed', usual, 2, []],
  [
    'a third more on a machine of half the speed',
    { serviceMs: 0.54, postgresMs: 0.8 },
    2,
    ['submit service'],
  ],
])('the comparison of %s names the rows that became too expensive', (_, now, slowness, worse) => {
  expect(worseOf(runOf(usual), runOf(now, slowness))).toEqual(worse);
});

test('the CPU time of a single call is compared where it grew by more than the clock can show', () => {
  const runOfCall = (serviceMs: number) => {
    const run = runOf(usual);
    run.rows['draft'] = { measured: 5_000, unit: 'ms', bare: 'bareCopyMs', serviceMs, postgresMs: 5_000 };
    return run;
  };
  expect(worseOf(runOfCall(10), runOfCall(40))).toEqual([]);
  expect(worseOf(runOfCall(10), runOfCall(50))).toEqual(['draft service']);
});

test('a cost that is worse in one round only is not reported', () => {
  const roundOf = (now: Figures) => compareRuns(runOf(usual), runOf(now)).filter(({ isWorse }) => isWorse);
  const service = roundOf({ serviceMs: 0.6, postgresMs: 0.8 });
  const postgres = roundOf({ serviceMs: 0.4, postgresMs: 1.2 });
  expect(stillWorse(service, postgres)).toEqual([]);
  expect(stillWorse(service, service)).toEqual(service);
});

test('rows without CPU times are compared by their ratio, and new rows with nothing', () => {
  const before = runOf(usual);
  const now = runOf(usual);
  now.rows['flood'] = { measured: 60, unit: 'ms', against: 20 };
  now.rows['new'] = { measured: 1, unit: 'ms', against: 1 };
  expect(worseOf(before, now)).toEqual(['flood ratio']);
});

const inLinux = process.platform === 'linux' ? test : test.skip;

inLinux('the CPU times are those of the given process and of PostgreSQL', async () => {
  const database = await demoDatabase();
  try {
    const meter = await makeCpuMeter(process.pid, database.ownerUrl);
    // PostgreSQL on another machine has no CPU time here.
    if (process.env['DATABASE_URL'] && !meter) return;
    if (!meter) throw new Error('The CPU times of the embedded PostgreSQL are not visible.');
    const before = meter();
    const startMs = process.cpuUsage().user / 1000;
    while (process.cpuUsage().user / 1000 < startMs + 200);
    const { serviceMs, postgresMs } = cpuBetween(before, meter(), 1);
    expect(serviceMs).toBeGreaterThanOrEqual(190);
    expect(postgresMs).toBeGreaterThanOrEqual(0);
  } finally {
    await database.drop();
  }
});
