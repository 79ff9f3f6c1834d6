import { auditLater } from '../../../platform/audit/audit.js';
import { randomBytes } from 'node:crypto';
import { PUBLISHED } from '../../../config/published.js';
import { PASSWORD_HASH_COST } from '../../../config/settings.js';
import { makeContext, type SystemContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../../../platform/values/ids.js';
import { openPasswords } from '../../auth/public.js';
import { removeApiKeys, removeAuthenticators, removeBackupCodes, replacePasswords } from './queries.js';

/** The published credentials that were found in the database. */
export type PublishedRows = {
  passwordHashes: string[];
  keyHashes: string[];
  /** The users with the published authenticator secret. */
  authenticators: { tenantId: string; userId: string }[];
};

type Print = (line: string) => void;

/**
 * Replaces published credentials by random ones that nobody knows, and disables the demo users. Their other rows stay. Prints one
 * line per change. Returns the number of changed rows.
 */
export async function replacePublished(
  db: Db,
  tenants: { id: string; slug: string }[],
  found: PublishedRows,
  print: Print,
): Promise<number> {
  const replacement = await openPasswords(PASSWORD_HASH_COST).hash(randomBytes(32).toString('base64url'));
  let total = 0;
  for (const { id: tenantId, slug } of tenants) {
    const ctx = makeContext(db, { kind: 'system', tenantId }, `published ${newId()}`);
    const changes = await replaceIn(ctx, found, replacement);
    for (const { what, names } of changes) print(`${slug}: ${what} ${names.join(', ')}`);
    total += changes.flatMap(({ names }) => names).length;
  }
  return total;
}

type Change = { what: string; names: string[] };

async function replaceIn(ctx: SystemContext, found: PublishedRows, replacement: string): Promise<Change[]> {
  const isDemo = Object.values(PUBLISHED.tenantIds).includes(ctx.tenantId);
  const ids = found.authenticators
    .filter(({ tenantId }) => tenantId === ctx.tenantId)
    .map(({ userId }) => userId);
  return ctx.write(async (tx) => {
    const users = await tx.query(replacePasswords(ctx, found.passwordHashes, replacement, isDemo));
    const factors = await tx.query(removeAuthenticators(ctx, ids));
    await tx.query(removeBackupCodes(ctx, ids));
    const couriers = await tx.query(removeApiKeys(ctx, found.keyHashes));
    const changes = [
      {
        what: isDemo ? 'disabled the users' : 'replaced the passwords of',
        names: users.map(({ username }) => username).sort(),
      },
      { what: 'removed the second factor of', names: factors.map(({ username }) => username).sort() },
      { what: 'removed the API keys of', names: couriers.map(({ code }) => code).sort() },
    ].filter(({ names }) => names.length > 0);
    if (changes.length > 0)
      auditLater(tx, 'tenant.published_credentials_replaced', ctx.tenantId, { after: { changes } });
    return changes;
  });
}
