import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { readConfig, type Config } from '../src/config.js';
import { makeServiceLogin } from '../src/db/roles.js';
import { projectRoot } from '../src/root.js';
import { openBenchDatabase } from './bench/database.js';
import { advancedSearchRow, listCustomersRow, searchCustomersRow, uploadRow } from './bench/customer-rows.js';
import { floodRow } from './bench/flood-rows.js';
import { getManifestRow } from './bench/manifest-rows.js';
import type { Bench, Row } from './bench/measure.js';
import { addPackagesRow, exportRow, listPackagesRow, previewRow } from './bench/package-rows.js';
import { listPrealertsRow, submitRow } from './bench/prealert-rows.js';
import { startBenchService } from './bench/service.js';
import { deliverRow } from './bench/webhook-rows.js';
import { runScript } from './script.js';

const HISTORY = join(projectRoot, 'docs', 'bench-history.jsonl');

// npm run bench: the hot paths as ratios against PostgreSQL itself, measured side by side in one run. Rates want
// a high ratio, times a low one.
await runScript(async (print) => {
  const config = readConfig();
  const database = await openBenchDatabase(config, print);
  try {
    const servingUrl = await makeServiceLogin(database.ownerUrl);
    const service = await startBenchService(servingUrl, database.ownerUrl);
    try {
      const bench = { ...database, servingUrl, port: service.port };
      report(await measure(config, bench, print), print);
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
});

/** `npm run bench -- list export` measures only the rows whose names hold one of these words. */
async function measure(config: Config, bench: Bench, print: (line: string) => void): Promise<Row[]> {
  const { small, large } = bench;
  const planned: [string, () => Promise<Row>][] = [
    ['submit a pre-alert', () => submitRow(config, bench)],
    ['list pre-alerts 10k', () => listPrealertsRow(bench, small, '10 k rows')],
    ['list pre-alerts 1M', () => listPrealertsRow(bench, large, '1 M rows')],
    ['GetManifest', () => getManifestRow(bench, small)],
    ['list customers 10k', () => listCustomersRow(bench, small, '10 k rows')],
    ['list customers 1M', () => listCustomersRow(bench, large, '1 M rows')],
    ['search customers', () => searchCustomersRow(bench, large)],
    ['advanced search', () => advancedSearchRow(bench, large)],
    ['list packages 10k', () => listPackagesRow(bench, small, '10 k rows')],
    ['list packages 1M', () => listPackagesRow(bench, large, '1 M rows')],
    ['export csv', () => exportRow(bench, large, 'csv')],
    ['export xlsx', () => exportRow(bench, large, 'xlsx')],
    ['invoice preview', () => previewRow(bench, large)],
    ['add packages', () => addPackagesRow(bench, large)],
    ['upload customers', () => uploadRow(bench, small)],
    ['deliver webhooks', () => deliverRow(bench, small)],
    ['login flood', () => floodRow(bench, print)],
  ];
  const words = process.argv.slice(2);
  const rows: Row[] = [];
  for (const [name, run] of planned) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const row = await run();
    show(row, print);
    rows.push(row);
  }
  return rows;
}

function show({ name, ours, theirs, unit, against, ratio }: Row, print: (line: string) => void): void {
  print(
    `${name.padEnd(34)} ${figure(ours)} ${unit}  against ${figure(theirs)} ${unit}  ratio ${ratio.toFixed(2)}  (${against})`,
  );
}

/** The growth of each list, and a line of history. */
function report(rows: Row[], print: (line: string) => void): void {
  const growth: Record<string, number> = {};
  for (const small of rows.filter(({ name }) => name.endsWith(', 10 k rows'))) {
    const list = small.name.replace(', 10 k rows', '');
    const large = rows.find(({ name }) => name === `${list}, 1 M rows`);
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
