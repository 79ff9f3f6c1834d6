import { parseArgs } from 'node:util';
import type pg from 'pg';
import { openSecrets } from '../platform/access/secrets.js';
import { readKeyedSettings, type KeyedSettings } from '../config/command-settings.js';
import { readOwner } from '../config/config.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { readValues } from '../platform/db/connections/rows.js';
import { countUndecryptable, rewrapSecrets } from '../modules/tenants/rewrap.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { findWithoutKey } from '../startup/announce-process.js';
import { fingerprint, readDeployments } from '../startup/deployment.js';
import { commandLine } from '../config/commands.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';

const RESTART =
  'Nothing was changed. Restart every server and every worker with the new setting, and repeat.';

// npm run rewrap: encrypts secrets that use an older key with the newest key. If one cannot be decrypted, it changes nothing;
// with --skip-undecryptable it encrypts the others.
await runScript(async (print) => {
  const { values } = parseArgs({ options: { 'skip-undecryptable': { type: 'boolean', default: false } } });
  const config = readKeyedSettings();
  const owner = readOwner();
  const { url } = owner;
  await assertDirect('The URL of the owner', url);
  await assertOwnDatabase(url, config.identity);
  // Only the owner can list all tenants. The rest runs with the service's role.
  const tenantIds = await withOwner(async (client) => {
    await assertNewestKeyUsed(client, config);
    return readValues<string>(client, 'select id from tenants order by id');
  }, owner);
  await withServiceRole(url, async (db) => {
    const secrets = openSecrets(config.secrets);
    if (!values['skip-undecryptable']) await assertDecryptable(db, secrets, tenantIds, print);
    const { unopened, stale } = await rewrapSecrets(db, secrets, tenantIds, print);
    if (unopened > 0) throw new Error(`Secrets that cannot be decrypted: ${unopened}. Keep the old keys.`);
    if (stale > 0)
      throw new Error(
        `Secrets that still use an old key: ${stale}. Restart every replica, then run this again.`,
      );
    print('All secrets use the newest key.');
  });
}, commandLine('rewrap [--skip-undecryptable]'));

/** A server without the newest key cannot decrypt what this command encrypts. */
async function assertNewestKeyUsed(client: pg.Client, { identity, secrets }: KeyedSettings): Promise<void> {
  const [newest] = secrets.encryptionKeys;
  if (identity.appEnv === 'development' || !newest) return;
  const print = fingerprint(newest.key);
  const deployments = await readDeployments(client);
  if (!deployments.some(({ fingerprints }) => fingerprints['ENCRYPTION_KEYS']?.includes(print)))
    throw new Error(
      `No server and no worker has started with version ${newest.version} of ENCRYPTION_KEYS, so those that run could not decrypt anything afterwards. ${RESTART}`,
    );
  const without = await findWithoutKey(client, newest.key);
  if (without.length === 0) return;
  const names = without.map(({ name, startedAt }) => `${name} since ${startedAt.toISOString()}`);
  throw new Error(
    `These processes run without version ${newest.version} of ENCRYPTION_KEYS, so they could not decrypt anything afterwards: ${names.join(', ')}. ` +
      `${RESTART} One that was killed is taken for ended after 45 seconds.`,
  );
}

async function assertDecryptable(...[db, secrets, tenantIds, print]: Parameters<typeof countUndecryptable>) {
  const unopened = await countUndecryptable(db, secrets, tenantIds, print);
  if (unopened > 0)
    throw new Error(
      `Secrets that cannot be decrypted: ${unopened}. Keep the old keys. Nothing was changed. Add the keys that encrypted them to ` +
        'ENCRYPTION_KEYS. If they are lost, replace these secrets, or encrypt the others with --skip-undecryptable.',
    );
}
