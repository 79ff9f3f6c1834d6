import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config/config.js';
import { createServiceLogin } from '../src/platform/db/connections/roles.js';
import { projectRoot } from '../src/config/project-root.js';
import { openBenchDatabase } from './bench/database.js';
import type { Bench, Row } from './bench/measure.js';
import { planRows, type PlannedRow } from './bench/rows/rows.js';
import { FULL, rowCount, SMOKE, type Scale } from './bench/scale.js';
import { startBenchService } from './bench/service.js';
import { runScript } from './script.js';

const HISTORY = join(projectRoot, 'docs', 'bench-history.jsonl');

// npm run bench: measures the hot paths as ratios to plain PostgreSQL, both in the same run. Rates should
// have a high ratio, times a low one. `npm run bench -- list export` measures only rows whose names contain
// one of these words. `npm run bench -- --smoke` runs every row once on little data and writes no history.
await runScript(async (print) => {
  const { values, positionals: words } = parseArgs({
    options: { smoke: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const scale = values.smoke ? SMOKE : FULL;
  const config = readConfig();
  const database = await openBenchDatabase(config, scale, print);
  try {
    const password = randomBytes(24).toString('base64url');
    const servingUrl = await createServiceLogin(database.ownerUrl, password);
    const service = await startBenchService(servingUrl, database.ownerUrl);
    try {
      const bench: Bench = { ...database, servingUrl, port: service.port, scale };
      const planned = planRows(config, bench, print).filter(
        ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
      );
      const rows = await measure(planned, print);
      if (scale.name === 'full') report(rows, scale, print);
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
});

/** Runs every planned row, even after a failed one. @throws with the names of the failed rows */
async function measure(planned: PlannedRow[], print: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const { name, run } of planned) {
    try {
      const row = await run();
      // On little data the start of psql may take longer than its work, which makes the result negative.
      if (!(row.measured > 0 && Number.isFinite(row.reference)))
        throw new Error('The measurement is not positive.');
      show(row, print);
      rows.push(row);
    } catch (error) {
      print(`${name.padEnd(34)} FAILED: ${error instanceof Error ? error.message : String(error)}`);
      failed.push(name);
    }
  }
  if (failed.length > 0) throw new Error(`Rows that failed: ${failed.join(', ')}.`);
  return rows;
}

function show({ name, measured, reference, unit, against, ratio }: Row, print: (line: string) => void): void {
  print(
    `${name.padEnd(34)} ${figure(measured)} ${unit}  against ${figure(reference)} ${unit}  ratio ${ratio.toFixed(2)}  (${against})`,
  );
}

/** Prints how each list grows with its size, and adds a line to the history. */
function report(rows: Row[], scale: Scale, print: (line: string) => void): void {
  const growth: Record<string, number> = {};
  const [smallEnd, largeEnd] = [scale.small, scale.large].map((size) => `, ${rowCount(size)} rows`);
  if (!smallEnd || !largeEnd) return;
  for (const small of rows.filter(({ name }) => name.endsWith(smallEnd))) {
    const list = small.name.replace(smallEnd, '');
    const large = rows.find(({ name }) => name === `${list}${largeEnd}`);
    if (!large) continue;
    growth[list] = Number((large.measured / small.measured).toFixed(3));
    print(
      `${`${list}: 1 M rows over 10 k`.padEnd(48)} ratio ${(large.measured / small.measured).toFixed(2)}`,
    );
  }
  const figures = Object.fromEntries(rows.map(({ name, ratio }) => [name, Number(ratio.toFixed(3))]));
  const entry = {
    at: new Date().toISOString(),
    node: process.version,
    cores: cpus().length,
    growth,
    ...figures,
  };
  appendFileSync(HISTORY, `${JSON.stringify(entry)}\n`);
}

function figure(value: number): string {
  return value.toFixed(value < 100 ? 2 : 0).padStart(8);
}
