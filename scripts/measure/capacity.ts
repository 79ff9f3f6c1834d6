import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../../src/config/config.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import { withDatabase, type Print } from './rig/database.js';
import { rowCount } from './rig/scale.js';
import { lineOfOperation, lineOfSize, operationHeadings, SIZE_HEADING } from './capacity/report.js';
import { sizesOf } from './capacity/sizes.js';
import { measureStep, type Measured } from './capacity/step.js';
import { runScript } from '../../src/commands/run/script.js';

const AMOUNTS = { times: 500, rounds: 3 };

// npm run capacity: what inserts, pages and the retention cost PostgreSQL with a million and with ten million audit entries, and
// the bytes per row, in a temporary database. `--rows 1000000` measures with a tenth of both.
await runScript(async (print) => {
  const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000000' } } });
  const total = Number(values.rows);
  if (!Number.isInteger(total / 1000) || total < 200_000)
    throw new Error('--rows must be a multiple of 1000, and at least 200000.');
  await run(readConfig(), total, print);
});

async function run(config: Config, total: number, print: Print): Promise<void> {
  await withDatabase(config, { place: 'temporary', print }, async (ownerUrl) => {
    const measureAt = (from: number, to: number) => {
      print(`Loading ${to - from} audit entries and package events, and their packages ...`);
      return measureStep(ownerUrl, { from, to, total, expired: total / 1000 }, config, AMOUNTS);
    };
    const small = await measureAt(0, total / 10);
    const large = await measureAt(total / 10, total);
    reportOperations(small, large, total, print);
    print(SIZE_HEADING);
    for (const size of await withClient(ownerUrl, sizesOf)) print(lineOfSize(size));
  });
}

function reportOperations(small: Measured[], large: Measured[], total: number, print: Print): void {
  for (const line of operationHeadings(rowCount(total / 10), rowCount(total))) print(line);
  for (const [n, row] of small.entries()) {
    const other = large[n];
    if (other) print(lineOfOperation(row, other));
  }
}
