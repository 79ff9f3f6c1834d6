import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.js';
import { makeServiceLogin } from '../src/db/roles.js';
import { projectRoot } from '../src/root.js';
import { openBenchDatabase } from './bench/database.js';
import { listRow, manifestRow, submitRow, type Row } from './bench/rows.js';
import { startBenchService } from './bench/service.js';
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
      const rows = [
        await submitRow(config, servingUrl, service.port),
        await listRow(database.small, '10 k rows', servingUrl, database.ownerUrl),
        await listRow(database.large, '1 M rows', servingUrl, database.ownerUrl),
        await manifestRow(database.small, servingUrl, database.ownerUrl),
      ];
      report(rows, print);
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
});

function report(rows: Row[], print: (line: string) => void): void {
  for (const { name, ours, theirs, unit, against, ratio } of rows) {
    print(
      `${name.padEnd(30)} ${show(ours)} ${unit}  against ${show(theirs)} ${unit}  ratio ${ratio.toFixed(2)}  (${against})`,
    );
  }
  const [, small, large] = rows;
  const growth = small && large ? large.ours / small.ours : NaN;
  print(`${'1 M rows over 10 k rows'.padEnd(30)} ratio ${growth.toFixed(2)}`);
  const figures = Object.fromEntries(rows.map(({ name, ratio }) => [name, Number(ratio.toFixed(3))]));
  const entry = {
    at: new Date().toISOString(),
    node: process.version,
    cores: cpus().length,
    growth: Number(growth.toFixed(3)),
    ...figures,
  };
  appendFileSync(HISTORY, `${JSON.stringify(entry)}\n`);
}

function show(figure: number): string {
  return figure.toFixed(figure < 100 ? 2 : 0).padStart(8);
}
