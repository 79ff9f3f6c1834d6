import { parseArgs } from 'node:util';
import { readKeyedSettings } from '../config/command-settings.js';
import { readOwner } from '../config/config.js';
import { PUBLISHED } from '../config/published.js';
import { replacePublished } from '../modules/tenants/published/replace.js';
import { openSecrets } from '../platform/access/secrets.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { APP_ROLE, withClient } from '../platform/db/connections/roles.js';
import { openDb } from '../platform/db/open-database.js';
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
    const rows = await client.query<{ id: string; slug: string }>(
      'select id, slug from tenants order by slug',
    );
    const removed = await client.query<{ host: string }>(
      'delete from tenant_hosts where tenant_id = any($1) returning host',
      [Object.values(PUBLISHED.tenantIds)],
    );
    return {
      tenants: rows.rows,
      found: await readPublished(client, secrets),
      hosts: removed.rows.map(({ host }) => host),
    };
  }, owner);
  if (hosts.length > 0) print(`Removed the host names of the demo tenants: ${hosts.join(', ')}`);
  const db = openDb({ url, size: 1, assumeRole: APP_ROLE, onError: () => undefined });
  try {
    const changed = await replacePublished(db, tenants, toRows(found), print);
    const left = await withClient(url, (client) => findPublished(client, config));
    if (left.length > 0)
      throw new Error(left.map(({ message, remedy }) => `${message} ${remedy}`).join('\n'));
    print(changed + hosts.length > 0 ? 'Start the service again.' : 'There is no published credential.');
  } finally {
    await db.close();
  }
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
