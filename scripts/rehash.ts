import { parseArgs } from 'node:util';
import { readConfig, readOwnerUrl } from '../src/config/config.js';
import { rehashLookups } from '../src/modules/tenants/rehash.js';
import { openSecrets } from '../src/platform/access/secrets.js';
import { assertDirect } from '../src/platform/db/connections/pooler.js';
import { APP_ROLE, withClient } from '../src/platform/db/connections/roles.js';
import { openDb } from '../src/platform/db/open-database.js';
import { runScript } from './script.js';

// npm run rehash: makes the hashes of all API keys again after LOOKUP_KEY was replaced. With --drop-backup-codes it also deletes
// the backup codes of all users, which no longer match. docs/leaked-secrets.md has the steps.
await runScript(async (print) => {
  const { values } = parseArgs({ options: { 'drop-backup-codes': { type: 'boolean', default: false } } });
  const config = readConfig();
  const url = readOwnerUrl();
  await assertDirect('The URL of the owner', url);
  // Only the owner can list all tenants. The rest runs with the service's role.
  const tenantIds = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>('select id from tenants order by id');
    return rows.map(({ id }) => id);
  });
  const db = openDb({ url, size: 1, assumeRole: APP_ROLE, onError: () => {} });
  try {
    const { rehashed, unopened, backupCodes } = await rehashLookups(
      db,
      openSecrets(config.secrets),
      tenantIds,
      { dropsBackupCodes: values['drop-backup-codes'], print },
    );
    print(`API keys that now have the hash of this LOOKUP_KEY: ${rehashed}.`);
    if (values['drop-backup-codes']) print(`Deleted backup codes: ${backupCodes}.`);
    if (unopened > 0) throw new Error(`API keys that cannot be decrypted: ${unopened}.`);
  } finally {
    await db.close();
  }
});
