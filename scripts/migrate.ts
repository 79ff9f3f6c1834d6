import { parseArgs } from 'node:util';
import { readMigrationSettings, readOwnerUrl } from '../src/config/config.js';
import { withClient } from '../src/platform/db/connections/roles.js';
import {
  readBackgroundMigrations,
  setBackgroundStatus,
} from '../src/platform/db/migrations/background-rows.js';
import { migrate } from '../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../src/platform/db/migrations/migration-files.js';
import { runScript } from './script.js';

// npm run migrate: applies the missing migrations to the database of DATABASE_OWNER_URL. With --status, --pause NAME or
// --resume NAME, it shows or controls background migrations instead. Waits up to MIGRATION_WAIT_SECONDS for another migration.
await runScript(async (print) => {
  const { values } = parseArgs({
    options: { status: { type: 'boolean' }, pause: { type: 'string' }, resume: { type: 'string' } },
  });
  const { status, pause, resume } = values;
  if (!status && !pause && !resume) return applyMissing(print);
  await withClient(readOwnerUrl(), async (client) => {
    if (pause) await setBackgroundStatus(client, pause, 'paused');
    if (resume) await setBackgroundStatus(client, resume, 'running');
    const rows = await readBackgroundMigrations(client);
    for (const { name, status: state, rowsDone, rowsTotal, lastError } of rows)
      print(`${name} ${state}, ${rowsDone} of about ${rowsTotal} rows${lastError ? `: ${lastError}` : ''}`);
    if (rows.length === 0) print('There are no background migrations.');
  });
});

async function applyMissing(print: (line: string) => void): Promise<void> {
  const { url, waitSeconds } = readMigrationSettings();
  const applied = await migrate(url, MIGRATIONS, { waitSeconds, log: print });
  print(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to apply.');
}
