import { join } from 'node:path';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { readConfig } from '../../src/config/config.js';
import { startEmbeddedPostgres } from '../../src/development/embedded-postgres/embedded-server.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { APP_ROLE, withClient } from '../../src/platform/db/connections/roles.js';
import { seedDemo } from '../../src/development/demo/seed.js';
import { projectRoot } from '../../src/config/project-root.js';
import { runScript } from '../script.js';
import { describe, loadCustomers, measure } from './search-quality/measure.js';
import { makeNames } from './search-quality/names.js';

// npm run search:quality [customers [queries per kind]]: measures the recall of the advanced search for
// misspelt names and its speed, compared with a brute-force search over all rows.
const [, , count = '100000', perKind = '140'] = process.argv;

await runScript(async (print) => {
  const config = readConfig();
  const server = await startEmbeddedPostgres({
    dataDir: join(projectRoot, '.data', 'search-quality'),
    database: `quality_${Number(count)}`,
    log: print,
    settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
  });
  try {
    await migrate(server.url, MIGRATIONS);
    await withClient(server.url, async (owner) => {
      await seedDemo(owner, openSecrets(config.secrets), new Date());
      const { rows } = await owner.query(
        `select from customers where user_code = 'QUALITY-${Number(count)}'`,
      );
      const startMs = performance.now();
      const names = rows.length > 0 ? makeNames(Number(count)) : await loadCustomers(owner, Number(count));
      print(`${names.length} customers in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
      const db = openDb({ url: server.url, size: 2, assumeRole: APP_ROLE, onError: () => {} });
      try {
        const measured = await measure(db, owner, names, { perKind: Number(perKind), bruteForceEvery: 30 });
        for (const line of describe(measured)) print(line);
      } finally {
        await db.close();
      }
    });
  } finally {
    await server.stop();
  }
});
