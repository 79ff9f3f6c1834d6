import { parseArgs } from 'node:util';
import { commandLine } from '../src/config/commands.js';
import { readOwnerUrl, readPasswordHashCost } from '../src/config/config.js';
import { resetAdmin } from '../src/modules/tenants/reset-admin.js';
import { withClient } from '../src/platform/db/connections/roles.js';
import { runScript } from './script.js';

// npm run admin:reset: a new one-time password for an administrator whom no other administrator can help (docs/operations.md).
const USAGE = commandLine('reset-admin --tenant miami [--username admin]');

await runScript(async (print) => {
  const url = readOwnerUrl();
  const {
    values: { tenant: slug, username },
  } = parseArgs({ options: { tenant: { type: 'string' }, username: { type: 'string', default: 'admin' } } });
  if (!slug) throw new Error(`Usage: ${USAGE}`);
  const password = await withClient(url, (client) =>
    resetAdmin(client, { slug, username }, { passwordHashCost: readPasswordHashCost() }),
  );
  print(`Password of ${username.toLowerCase()}, shown this once: ${password}`);
  print(
    'It must be changed at the first login within 7 days. The second factor is off, and all sessions have ended.',
  );
}, USAGE);
