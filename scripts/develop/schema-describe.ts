import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/development/embedded-postgres/embedded-server.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { listMigrations, MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { describeSchema, EXPECTED, formatExpected } from '../../src/platform/db/schema-check/schema-lines.js';
import { runScript } from '../../src/commands/run/script.js';

// npm run schema:describe: applies the migrations to a new database, and writes what they make to generated/schema.json. Each start
// compares the database with it.
await runScript(async (print) => {
  parseArgs({ options: {} });
  const dataDir = await mkdtemp(join(tmpdir(), 'crossdock-schema-'));
  // The account that runs PostgreSQL for root must reach it.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, database: 'schema', log: () => undefined });
  try {
    await migrate(server.url, MIGRATIONS);
    const lines = await withClient(server.url, describeSchema);
    await writeFile(EXPECTED, formatExpected({ migrations: await listMigrations(MIGRATIONS), lines }));
    print(`Wrote ${lines.length} lines to ${EXPECTED}.`);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
