import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config/config.js';
import { createServiceLogin } from '../src/platform/db/connections/roles.js';
import { projectRoot } from '../src/config/project-root.js';
import { compareRuns, lastRecorded, lineOfComparison } from './bench/compare.js';
import { makeCpuMeter } from './bench/cpu.js';
import { openBenchDatabase } from './bench/database.js';
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
import { planRows, type PlannedRow } from './bench/rows/rows.js';
import { FULL, rowCount, SMOKE } from './bench/scale.js';
import { startBenchService } from './bench/service.js';
import { measureYardsticks, type Yardsticks } from './bench/yardsticks.js';
import { runScript } from './script.js';

const HISTORY = join(projectRoot, 'docs', 'bench-history.jsonl');

type Print = (line: string) => void;

// npm run bench: measures what users wait for, in rates and CPU time, beside PostgreSQL alone in the same run, and adds a line
// to docs/bench-history.jsonl. `npm run bench -- list export` measures only rows whose names contain one of these words, and records nothing.
// `--compare` compares with the last line of the history instead of adding one, and fails if a cost grew by more than a quarter.
// `--smoke` runs every row once on little data.
await runScript(async (print) => {
  const { values, positionals: words } = parseArgs({
    options: { smoke: { type: 'boolean', default: false }, compare: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const before = values.compare ? lastRecorded(HISTORY) : undefined;
  if (values.compare && !before)
    throw new Error('The history has no run to compare with. Run npm run bench first.');
  const entry = await run(values.smoke, words, print);
  if (before) reportComparison(before, entry, print);
  const line = JSON.stringify(entry, roundFigures);
  if (!before && !values.smoke && words.length === 0) appendFileSync(HISTORY, `${line}\n`);
});

/** Prepares the data, starts the service and measures the rows. */
async function run(isSmoke: boolean, words: string[], print: Print): Promise<HistoryEntry> {
  const scale = isSmoke ? SMOKE : FULL;
  const config = readConfig();
  const database = await openBenchDatabase(config, scale, print);
  try {
    const password = randomBytes(24).toString('base64url');
    const servingUrl = await createServiceLogin(database.ownerUrl, password);
    const service = await startBenchService(servingUrl, database.ownerUrl);
    try {
      const meter = await makeCpuMeter(service.pid, database.ownerUrl);
      if (!meter)
        print('The CPU times of PostgreSQL are not visible here. Only rates and times are measured.');
      const yardsticks = await measureYardsticks(database.ownerUrl, scale);
      const bench: Bench = { ...database, servingUrl, port: service.port, scale, meter };
      const planned = planRows(config, bench, print).filter(
        ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
      );
      if (planned.length === 0) throw new Error(`The name of no row contains ${words.join(' or ')}.`);
      const rows = await measure(planned, { yardsticks, ownerUrl: database.ownerUrl }, print);
      const ends = [scale.small, scale.large].map((size) => `, ${rowCount(size)} rows`) as [string, string];
      for (const [list, growth] of growthOf(rows, ends))
        print(
          `${list}: CPU at ${rowCount(scale.large)} rows over ${rowCount(scale.small)} ${growth.toFixed(2)}`,
        );
      return entryOf(rows, yardsticks);
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
}

/** Runs every planned row, even after a failed one. @throws with the names of the failed rows */
async function measure(
  planned: PlannedRow[],
  { yardsticks, ownerUrl }: { yardsticks: Yardsticks; ownerUrl: string },
  print: Print,
): Promise<Row[]> {
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const line of [describeYardsticks(yardsticks), ...HEADINGS]) print(line);
  for (const { name, run: measureRow } of planned) {
    try {
      await waitForVacuums(ownerUrl);
      const row = await measureRow();
      // On little data the start of psql may take longer than its work, which makes the result negative.
      if (!(row.measured > 0)) throw new Error('The measurement is not positive.');
      print(lineOf(row, yardsticks));
      rows.push(row);
    } catch (error) {
      print(`${name.padEnd(34)} FAILED: ${error instanceof Error ? error.message : String(error)}`);
      failed.push(name);
    }
  }
  if (failed.length > 0) throw new Error(`Rows that failed: ${failed.join(', ')}.`);
  return rows;
}

/** @throws with the names of the rows whose cost grew by more than a quarter */
function reportComparison(before: HistoryEntry, now: HistoryEntry, print: Print): void {
  const comparisons = compareRuns(before, now);
  print(`Costs in multiples of the bare minimum, ${before.at} and now:`);
  for (const comparison of comparisons) print(lineOfComparison(comparison));
  const worse = [...new Set(comparisons.filter(({ isWorse }) => isWorse).map(({ name }) => name))];
  if (worse.length > 0)
    throw new Error(`Rows that became more than a quarter more expensive: ${worse.join(', ')}.`);
}

function roundFigures(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
