import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readOwner, readPasswordHashCost } from '../config/config.js';
import { ONE_TIME_PASSWORD_DAYS } from '../modules/auth/public.js';
import { resetAdmin } from '../modules/tenants/reset-admin.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';

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
    `It must be changed at the first login within ${ONE_TIME_PASSWORD_DAYS} days. The second factor is off, and all sessions have ended.`,
  );
}, USAGE);
