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

// npm run bench: the hot paths as ratios against PostgreSQL itself, measured side by side in one run. Rates want
// a high ratio, times a low one. `npm run bench -- list export` measures only the rows whose names hold one of these
// words. `npm run bench -- --smoke` runs every row once on little data, and writes no history.
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

/** Runs every planned row, also behind one that fails. @throws naming the rows that failed */
async function measure(planned: PlannedRow[], print: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const { name, run } of planned) {
    try {
      const row = await run();
      // on little data the start of psql may outweigh its work, and its share come out below zero
      if (!(row.ours > 0 && Number.isFinite(row.theirs))) throw new Error('It measured nothing.');
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

function show({ name, ours, theirs, unit, against, ratio }: Row, print: (line: string) => void): void {
  print(
    `${name.padEnd(34)} ${figure(ours)} ${unit}  against ${figure(theirs)} ${unit}  ratio ${ratio.toFixed(2)}  (${against})`,
  );
}

/** The growth of each list, and a line of history. */
function report(rows: Row[], scale: Scale, print: (line: string) => void): void {
  const growth: Record<string, number> = {};
  const [smallEnd, largeEnd] = [scale.small, scale.large].map((size) => `, ${rowCount(size)} rows`);
  if (!smallEnd || !largeEnd) return;
  for (const small of rows.filter(({ name }) => name.endsWith(smallEnd))) {
    const list = small.name.replace(smallEnd, '');
    const large = rows.find(({ name }) => name === `${list}${largeEnd}`);
    if (!large) continue;
    growth[list] = Number((large.ours / small.ours).toFixed(3));
    print(`${`${list}: 1 M rows over 10 k`.padEnd(48)} ratio ${(large.ours / small.ours).toFixed(2)}`);
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
