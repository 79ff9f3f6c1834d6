import { parseArgs } from 'node:util';
import { readKeyedSettings } from '../config/command-settings.js';
import { readOwner } from '../config/config.js';
import { PUBLISHED } from '../config/published.js';
import { replacePublished } from '../modules/tenants/published/replace.js';
import { openSecrets } from '../platform/access/secrets.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { withClient } from '../platform/db/connections/roles.js';
import { readRows, readValues } from '../platform/db/connections/rows.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { findPublished, publishedKeyHashes, readPublished } from '../startup/published-credentials.js';
import { commandLine } from '../config/commands.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';

// npm run published:remove: replaces the published passwords, authenticator secrets and API keys of a database by random ones,
// disables the demo users, and removes the host names of the demo tenants (docs/operations.md).
await runScript(async (print) => {
  parseArgs({ options: {} });
  const config = readKeyedSettings();
  const secrets = openSecrets(config.secrets);
  const owner = readOwner();
  const { url } = owner;
  await assertDirect('The URL of the owner', url);
  await assertOwnDatabase(url, config.identity);
  const { tenants, found, hosts } = await withOwner(async (client) => {
    const remove = 'delete from tenant_hosts where tenant_id = any($1) returning host';
    return {
      tenants: await readRows<{ id: string; slug: string }>(
        client,
        'select id, slug from tenants order by slug',
      ),
      hosts: await readValues<string>(client, remove, [Object.values(PUBLISHED.tenantIds)]),
      found: await readPublished(client, secrets),
    };
  }, owner);
  if (hosts.length > 0) print(`Removed the host names of the demo tenants: ${hosts.join(', ')}`);
  await withServiceRole(url, async (db) => {
    const changed = await replacePublished(db, tenants, toRows(found), print);
    const left = await withClient(url, (client) => findPublished(client, config));
    if (left.length > 0)
      throw new Error(left.map(({ message, remedy }) => `${message} ${remedy}`).join('\n'));
    print(changed + hosts.length > 0 ? 'Start the service again.' : 'There is no published credential.');
  });
  function toRows({ passwords, authenticators }: typeof found) {
    return {
      passwordHashes: [...new Set(passwords.map(({ password_hash: hash }) => hash))],
      keyHashes: publishedKeyHashes(secrets),
      authenticators: authenticators.map(({ tenant_id: tenantId, user_id: userId }) => ({
        tenantId,
        userId,
      })),
    };
  }
}, commandLine('remove-published'));
