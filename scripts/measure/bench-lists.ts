import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config/config.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import { runScript } from '../../src/commands/run/script.js';
import { describeTimes, missedTargets } from './bench-console/report.js';
import { listCalls } from './bench-lists/calls.js';
import { fillOffice } from './bench-lists/fill-office.js';
import { placeOf, withDatabase } from './rig/database.js';
import { FULL, SMOKE } from './rig/scale.js';
import { exchange, logIn, withService } from './rig/service.js';
import { ensureTenant } from './rig/tenants.js';

/** A list that takes longer keeps a person waiting. */
const TARGET_MS = 300;
const ROUNDS = 5;

/** The share of the packages that are in the warehouse. */
const IN_STOCK = 0.04;

// npm run bench:lists: the time of each list of the console, as it opens, with its filters and in its orders, with a million packages,
// 100,000 customers and 200 couriers. Fails if a median is above 300 ms. The data stay in .data/lists. `--smoke` uses little data.
await runScript(async (print) => {
  const { values } = parseArgs({ options: { smoke: { type: 'boolean', default: false } } });
  const scale = values.smoke ? SMOKE : FULL;
  const place = placeOf(scale.name, 'lists');
  await withDatabase(readConfig(), { place, print }, async (ownerUrl) => {
    const tenant = await withClient(ownerUrl, async (client) => {
      const { large: size, manifestPackages } = scale;
      const inStock = size * IN_STOCK;
      const amounts = { size, customers: size / 10, inStock, manifestPackages };
      const loaded = await ensureTenant(client, 'large', amounts, print);
      await fillOffice(client, loaded, { inStock, print });
      return loaded;
    });
    await withService({ ownerUrl }, async () => {
      const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
      const measured: { name: string; timesMs: number[] }[] = [];
      for (const { name, ...call } of listCalls(tenant)) {
        const timesMs: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const start = performance.now();
          await exchange({ ...call, host: tenant.host, headers });
          timesMs.push(performance.now() - start);
        }
        measured.push({ name, timesMs });
      }
      for (const line of describeTimes(measured)) print(line);
      const missed = missedTargets(measured, TARGET_MS);
      if (missed.length > 0) throw new Error(`The median is above ${TARGET_MS} ms: ${missed.join(', ')}.`);
    });
  });
});
