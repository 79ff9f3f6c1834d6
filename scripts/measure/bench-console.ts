import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config/config.js';
import { withBenchDatabase } from './rig/tenants.js';
import { FULL, rowCount, SMOKE } from './rig/scale.js';
import { withService } from './rig/service.js';
import { describeTimes, missedTargets } from './bench-console/report.js';
import { measureScans } from './bench-console/scans.js';
import { openStation } from './bench-console/station.js';
import { runScript } from '../../src/commands/run/script.js';

/** A person at a station notices a longer wait. */
const TARGET_MS = 150;

// npm run bench:console: the time from the last key of a scanner to the result on the screen, in the console in chromium, with the
// service and the database of npm run bench: a million packages. Fails if a median is above 150 ms. `--scans 200` scans more often
// than 100 times per page. `--smoke` uses little data. CHROMIUM is the browser's path if it is not /usr/bin/chromium.
await runScript(async (print) => {
  const { values } = parseArgs({
    options: { smoke: { type: 'boolean', default: false }, scans: { type: 'string', default: '100' } },
  });
  const scans = Number(values.scans);
  if (!(Number.isInteger(scans) && scans > 0)) throw new Error('--scans must be a positive number.');
  const scale = values.smoke ? SMOKE : FULL;
  await withBenchDatabase({ config: readConfig(), scale, print }, (database) =>
    withService({ ownerUrl: database.ownerUrl }, async ({ port }) => {
      const station = await openStation(`http://${database.large.host}:${port}`);
      try {
        print(`${rowCount(database.large.size)} packages, ${scans} scans per line`);
        const measured = await measureScans(station, database, scans);
        for (const line of describeTimes(measured)) print(line);
        const missed = missedTargets(measured, TARGET_MS);
        if (missed.length > 0) throw new Error(`The median is above ${TARGET_MS} ms: ${missed.join(', ')}.`);
      } finally {
        await station.close();
      }
    }),
  );
});
