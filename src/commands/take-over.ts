import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readOwner } from '../config/config.js';
import { takeOver } from '../startup/take-over.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';

// npm run take-over: gives a database that another deployment has used to this one, for example after the deployment got a new name
// (docs/deploy.md, "One deployment per database").
const USAGE = commandLine('take-over --from DEPLOYMENT --database NAME');

await runScript(async (print) => {
  const {
    values: { from, database },
  } = parseArgs({ options: { from: { type: 'string' }, database: { type: 'string' } } });
  if (!from || !database) throw new Error(`State --from and --database.\nUsage: ${USAGE}`);
  const identity = readIdentity();
  const { url } = readOwner();
  await withOwner((client) => takeOver(client, identity, { from, database, url }));
  print(
    `The deployment ${identity.name} (APP_ENV=${identity.appEnv}) uses this database now. ` +
      'Its LOOKUP_KEY and ENCRYPTION_KEYS must be those that were used before, unless only new ENCRYPTION_KEYS were recorded.',
  );
}, USAGE);
