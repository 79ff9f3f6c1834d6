import { parseArgs } from 'node:util';
import { readIdentity } from '../src/config/command-settings.js';
import { commandLine } from '../src/config/commands.js';
import { readOwner, readPasswordHashCost } from '../src/config/config.js';
import { resetAdmin } from '../src/modules/tenants/reset-admin.js';
import { assertOwnDatabase } from '../src/startup/database-owner.js';
import { withOwner } from './owner.js';
import { runScript } from './script.js';

// npm run admin:reset: a new one-time password for an administrator whom no other administrator can help (docs/operations.md).
const USAGE = commandLine('reset-admin --tenant miami [--username admin]');

await runScript(async (print) => {
  const {
    values: { tenant: slug, username },
  } = parseArgs({ options: { tenant: { type: 'string' }, username: { type: 'string', default: 'admin' } } });
  if (!slug) throw new Error(`Usage: ${USAGE}`);
  const owner = readOwner();
  await assertOwnDatabase(owner.url, readIdentity());
  const password = await withOwner(
    (client) => resetAdmin(client, { slug, username }, { passwordHashCost: readPasswordHashCost() }),
    owner,
  );
  print(`Password of ${username.toLowerCase()}, shown this once: ${password}`);
  print(
    'It must be changed at the first login within 7 days. The second factor is off, and all sessions have ended.',
  );
}, USAGE);
