import { readConfig } from '../../src/config/config.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { APP_ROLE, withClient } from '../../src/platform/db/connections/roles.js';
import { withDatabase } from './rig/database.js';
import { runScript } from '../../src/commands/run/script.js';
import { describe, loadCustomers, measure } from './search-quality/measure.js';
import { makeNames } from './rig/names.js';

// npm run search:quality [customers [queries per kind]]: measures the recall of the advanced search for
// misspelt names and its speed, compared with a brute-force search over all rows.
const [, , count = '100000', perKind = '140'] = process.argv;

await runScript(async (print) => {
  // Always in its own server: the operator's should not get this many customers.
  const config = { ...readConfig(), databaseOwnerUrl: undefined };
  const place = { folder: 'search-quality', database: `quality_${Number(count)}` };
  await withDatabase(config, { place, print }, (ownerUrl) =>
    withClient(ownerUrl, async (owner) => {
      const { rows } = await owner.query(
        `select from customers where user_code = 'QUALITY-${Number(count)}'`,
      );
      const startMs = performance.now();
      const names = rows.length > 0 ? makeNames(Number(count)) : await loadCustomers(owner, Number(count));
      print(`${names.length} customers in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
      const db = openDb({ url: ownerUrl, size: 2, assumeRole: APP_ROLE, onError: () => {} });
      try {
        const measured = await measure(db, owner, names, { perKind: Number(perKind), bruteForceEvery: 30 });
        for (const line of describe(measured)) print(line);
      } finally {
        await db.close();
      }
    }),
  );
});
