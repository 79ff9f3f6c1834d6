import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config/config.js';
import { projectRoot } from '../../src/config/project-root.js';
import { compareRuns, lastRecorded, lineOfComparison, stillWorse, type Comparison } from './bench/compare.js';
import type { Print } from './rig/database.js';
import { makeCpuMeter } from './rig/cpu.js';
import { withBenchDatabase } from './rig/tenants.js';
import type { Bench, Row } from './bench/measure.js';
import {
  describeYardsticks,
  entryOf,
  growthOf,
  HEADINGS,
  lineOf,
  type HistoryEntry,
} from './bench/report.js';
import { waitForVacuums } from './bench/postgres.js';
import { printProfile, printStatements, resetStatements, STATEMENT_SETTINGS } from './bench/profile.js';
import { planRows, type PlannedRow } from './bench/rows/rows.js';
import { FULL, rowCount, SMOKE, type Scale } from './rig/scale.js';
import { withService } from './rig/service.js';
import { measureYardsticks, type Yardsticks } from './bench/yardsticks.js';
import { runScript } from '../../src/commands/run/script.js';

const HISTORY = join(projectRoot, 'docs', 'bench-history.jsonl');

/** How often a row is measured before it counts as more expensive. */
const ROUNDS = 3;

// npm run bench: measures what users wait for, in rates and CPU time, beside PostgreSQL alone in the same run, and adds a line
// to docs/bench-history.jsonl. `npm run bench -- list export` measures only rows whose names contain one of these words, and records nothing.
// `--compare` compares with the last line of the history instead of adding one. Rows whose cost grew by more than a quarter are measured
// again, with new yardsticks, and it fails if one stays that expensive.
// `--smoke` runs every row once on little data. `--profile` prints what the service and PostgreSQL spent their time on; the rows cost more then.
await runScript(async (print) => {
  const { values, positionals: words } = parseArgs({
    options: {
      smoke: { type: 'boolean', default: false },
      compare: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const before = values.compare ? lastRecorded(HISTORY) : undefined;
  if (values.compare && !before)
    throw new Error('The history has no run to compare with. Run npm run bench first.');
  const profiles = values.profile ? mkdtempSync(join(tmpdir(), 'crossdock-profile-')) : undefined;
  const entry = await run({ isSmoke: values.smoke, words, before, profiles }, print);
  if (profiles !== undefined) printProfile(profiles, print);
  const line = JSON.stringify(entry, roundFigures);
  if (!before && !values.smoke && !values.profile && words.length === 0) appendFileSync(HISTORY, `${line}\n`);
});

type Choices = {
  isSmoke: boolean;
  /** Only rows whose names contain one of these are measured; without any, all are. */
  words: string[];
  /** The run to compare with. */
  before: HistoryEntry | undefined;
  /** The folder for the profile of the service. Undefined measures without one. */
  profiles: string | undefined;
};

/**
 * Prepares the data, starts the service and measures the rows.
 * @throws with the names of the rows that failed, or that became more expensive than `before`
 */
async function run({ isSmoke, words, before, profiles }: Choices, print: Print): Promise<HistoryEntry> {
  const scale = isSmoke ? SMOKE : FULL;
  const config = readConfig();
  const settings = profiles === undefined ? {} : STATEMENT_SETTINGS;
  const nodeOptions = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
  return withBenchDatabase({ config, scale, print, settings }, (database) =>
    withService({ ownerUrl: database.ownerUrl, nodeOptions }, async ({ servingUrl, port, pid }) => {
      const meter = await makeCpuMeter(pid, database.ownerUrl);
      if (!meter)
        print('The CPU times of PostgreSQL are not visible here. Only rates and times are measured.');
      const bench: Bench = { ...database, servingUrl, port, scale, meter };
      const planned = planRows(config, bench, print).filter(
        ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
      );
      if (planned.length === 0) throw new Error(`The name of no row contains ${words.join(' or ')}.`);
      if (profiles !== undefined) await resetStatements(database.ownerUrl);
      const round = await measure(planned, bench, print);
      if (profiles !== undefined) await printStatements(database.ownerUrl, print);
      printGrowth(
        round.measured.map(({ row }) => row),
        scale,
        print,
      );
      if (before) await compare(before, round, { bench, print });
      return entryOfRound(round);
    }),
  );
}

function printGrowth(rows: Row[], { small, large }: Scale, print: Print): void {
  const ends = [small, large].map((size) => `, ${rowCount(size)} rows`) as [string, string];
  for (const [list, growth] of growthOf(rows, ends))
    print(`${list}: CPU at ${rowCount(large)} rows over ${rowCount(small)} ${growth.toFixed(2)}`);
}

/** Rows with the yardsticks that were measured just before them. */
type Round = { yardsticks: Yardsticks; measured: Measured[] };

type Measured = { planned: PlannedRow; row: Row };

function entryOfRound({ measured, yardsticks }: Round): HistoryEntry {
  const rows = measured.map(({ row }) => row);
  return entryOf(rows, yardsticks);
}

/** Runs every planned row, even after a failed one. @throws with the names of the failed rows */
async function measure(
  plan: PlannedRow[],
  { ownerUrl, scale }: Pick<Bench, 'ownerUrl' | 'scale'>,
  print: Print,
): Promise<Round> {
  const yardsticks = await measureYardsticks(ownerUrl, scale);
  const measured: Round['measured'] = [];
  const failed: string[] = [];
  for (const line of [describeYardsticks(yardsticks), ...HEADINGS]) print(line);
  for (const planned of plan) {
    try {
      await waitForVacuums(ownerUrl);
      const row = await planned.run();
      // On little data the start of psql may take longer than its work, which makes the result negative.
      if (!(row.measured > 0)) throw new Error('The measurement is not positive.');
      print(lineOf(row, yardsticks));
      measured.push({ planned, row });
    } catch (error) {
      print(`${planned.name.padEnd(34)} FAILED: ${error instanceof Error ? error.message : String(error)}`);
      failed.push(planned.name);
    }
  }
  if (failed.length > 0) throw new Error(`Rows that failed: ${failed.join(', ')}.`);
  return { yardsticks, measured };
}

/** @throws with the costs that grew by more than a quarter in every round */
async function compare(
  before: HistoryEntry,
  first: Round,
  { bench, print }: { bench: Bench; print: Print },
): Promise<void> {
  let worse = compareRound(before, first, print);
  let round = first;
  for (let n = 2; n <= ROUNDS && worse.length > 0; n += 1) {
    print(`Round ${n} of ${ROUNDS}, only the worse rows:`);
    const isWorse = ({ row }: Measured) => worse.some(({ name }) => name === row.name);
    const plan = round.measured.filter(isWorse).map(({ planned }) => planned);
    round = await measure(plan, bench, print);
    worse = stillWorse(worse, compareRound(before, round, print));
  }
  const names = worse.map(({ name, what }) => `${name} (${what})`).join(', ');
  if (names) throw new Error(`Costs that grew by more than a quarter: ${names}.`);
}

/** Prints the comparison and returns the costs that grew too much. */
function compareRound(before: HistoryEntry, round: Round, print: Print): Comparison[] {
  const comparisons = compareRuns(before, entryOfRound(round));
  print(`Costs in multiples of the bare minimum, ${before.at} and now:`);
  for (const comparison of comparisons) print(lineOfComparison(comparison));
  return comparisons.filter(({ isWorse }) => isWorse);
}

function roundFigures(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
