import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readMigrationSettings, readOwner, readOwnerUrl } from '../config/config.js';
import { withClient } from '../platform/db/connections/roles.js';
import { readBackgroundMigrations, setBackgroundStatus } from '../platform/db/migrations/background-rows.js';
import { IGNORE_RUNNING } from '../platform/db/migrations/running-processes.js';
import { assertOwner } from '../platform/db/owner-check/check-owner.js';
import { migrate } from '../platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../platform/db/migrations/migration-files.js';
import { assertOwnDatabase, claimDatabase } from '../startup/database-owner.js';
import { runScript } from './run/script.js';
import { awaitServer } from '../startup/await-server.js';

// npm run migrate: applies the missing migrations to the database of DATABASE_OWNER_URL. With --status, --pause NAME or
// --resume NAME, it shows or controls background migrations instead. --await-server SECONDS first waits for a server that starts.
// Waits up to MIGRATION_WAIT_SECONDS for another migration. Migrations that need a stop are refused while processes run, unless
// --despite-running-processes is given.
const USAGE = `${commandLine(`migrate [--await-server SECONDS] [--${IGNORE_RUNNING}]`)}
${commandLine('migrate --status | --pause NAME | --resume NAME')}`;

await runScript(async (print) => {
  const { values } = parseArgs({
    options: {
      status: { type: 'boolean' },
      pause: { type: 'string' },
      resume: { type: 'string' },
      'await-server': { type: 'string' },
      [IGNORE_RUNNING]: { type: 'boolean', default: false },
    },
  });
  const { status, pause, resume, 'await-server': seconds } = values;
  if (seconds !== undefined) await awaitServer(readOwnerUrl(), secondsOf(seconds) * 1_000);
  await assertOwnDatabase(readOwnerUrl(), readIdentity(), { refusesUnknownTenants: true });
  if (!status && !pause && !resume) return applyMissing(values[IGNORE_RUNNING], print);
  const { url, setting } = readOwner();
  await withClient(url, async (client) => {
    await assertOwner(client, setting);
    if (pause) await setBackgroundStatus(client, pause, 'paused');
    if (resume) await setBackgroundStatus(client, resume, 'running');
    const rows = await readBackgroundMigrations(client);
    for (const { name, status: state, rowsDone, rowsTotal, lastError, findings } of rows)
      print(
        `${name} ${state}, ${rowsDone} of about ${rowsTotal} rows${findings > 0 ? `, ${findings} reported` : ''}${lastError ? `: ${lastError}` : ''}`,
      );
    if (rows.length === 0) print('There are no background migrations.');
  });
}, USAGE);

function secondsOf(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error('--await-server needs a number of seconds, for example 120.');
  return Number(text);
}

async function applyMissing(ignoresRunning: boolean, print: (line: string) => void): Promise<void> {
  const { url, waitSeconds } = readMigrationSettings();
  const applied = await migrate(url, MIGRATIONS, { waitSeconds, ignoresRunning, log: print });
  await withClient(url, (client) => claimDatabase(client, readIdentity()));
  print(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to apply.');
}
