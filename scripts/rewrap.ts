import { openSecrets } from '../src/platform/access/secrets.js';
import { readConfig, readOwnerUrl } from '../src/config/config.js';
import { openDb } from '../src/platform/db/open-database.js';
import { assertDirect } from '../src/platform/db/connections/pooler.js';
import { APP_ROLE, withClient } from '../src/platform/db/connections/roles.js';
import { rewrapSecrets } from '../src/modules/tenants/rewrap.js';
import { commandLine } from '../src/config/commands.js';
import { runScript } from './script.js';

// npm run rewrap: encrypts secrets that use an older key with the newest key.
await runScript(async (print) => {
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
    const { unopened, stale } = await rewrapSecrets(db, openSecrets(config.secrets), tenantIds, print);
    if (unopened > 0) throw new Error(`Secrets that cannot be decrypted: ${unopened}. Keep the old keys.`);
    if (stale > 0)
      throw new Error(
        `Secrets that still use an old key: ${stale}. Restart every replica, then run this again.`,
      );
    print('All secrets use the newest key.');
  } finally {
    await db.close();
  }
}, commandLine('rewrap'));
