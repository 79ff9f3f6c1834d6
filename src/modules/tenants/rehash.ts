import { audit } from '../../platform/audit/audit.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { makeContext, type SystemContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { newId } from '../../platform/values/ids.js';
import { deleteBackupCodes, selectApiKeys, updateApiKeyHashes, type StoredApiKey } from './lookup-hashes.js';

const BATCH_ROWS = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export type Rehashed = {
  /** The number of API keys whose hash was made with another LOOKUP_KEY and is replaced. */
  rehashed: number;
  /** The number of API keys that cannot be decrypted, so that their hash cannot be made. Each was printed. */
  unopened: number;
  backupCodes: number;
};

/**
 * Makes the hash of every API key again, with the LOOKUP_KEY of these settings, so that keys stay valid after that key was replaced.
 * Backup codes are stored as hashes only. They are deleted if the operator says so. Prints counts, never a secret.
 */
export async function rehashLookups(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
  options: { dropsBackupCodes: boolean; print: (line: string) => void },
): Promise<Rehashed> {
  const total: Rehashed = { rehashed: 0, unopened: 0, backupCodes: 0 };
  for (const tenantId of tenantIds) {
    // One context per batch, because a context has only one writing transaction.
    const newContext = () => makeContext(db, { kind: 'system', tenantId }, `rehash ${newId()}`);
    await rehashTenant(newContext, secrets, total, options.print);
    if (options.dropsBackupCodes) total.backupCodes += await dropBackupCodes(newContext());
  }
  return total;
}

async function rehashTenant(
  newContext: () => SystemContext,
  secrets: Secrets,
  total: Rehashed,
  print: (line: string) => void,
): Promise<void> {
  for (let after = FIRST_ID, isMore = true; isMore;) {
    const ctx = newContext();
    const [batch] = await ctx.read([selectApiKeys(ctx, { after, limit: BATCH_ROWS })]);
    const hashed = batch.map((stored) => ({ ...stored, renewed: hashOf(ctx.tenantId, secrets, stored) }));
    for (const { id, renewed } of hashed) {
      if (renewed !== undefined) continue;
      total.unopened += 1;
      print(`couriers ${id}: the API key cannot be decrypted. Create a new one in the courier's settings.`);
    }
    const changed = hashed.flatMap(({ id, cipher, hash, renewed }) =>
      cipher === null || renewed === undefined || renewed === hash ? [] : [{ id, cipher, renewed }],
    );
    if (changed.length > 0) {
      const fact = {
        action: 'tenant.api_keys_rehashed',
        entity: 'tenant' as const,
        entityId: ctx.tenantId,
        after: { up_to: changed.length },
      };
      const [updated] = await ctx.write([updateApiKeyHashes(ctx, changed), audit(ctx, fact)]);
      total.rehashed += updated.length;
    }
    after = batch.at(-1)?.id ?? after;
    isMore = batch.length === BATCH_ROWS;
  }
}

/** Returns undefined if the key cannot be decrypted. */
function hashOf(tenantId: string, secrets: Secrets, { id, cipher }: StoredApiKey): string | undefined {
  if (cipher === null) return undefined;
  try {
    return secrets.lookupHash(secrets.decrypt(cipher, { tenantId, rowId: id, field: 'api_key' }), 'api_key');
  } catch {
    return undefined;
  }
}

async function dropBackupCodes(ctx: SystemContext): Promise<number> {
  const fact = {
    action: 'tenant.backup_codes_dropped',
    entity: 'tenant' as const,
    entityId: ctx.tenantId,
  };
  const [dropped] = await ctx.write([deleteBackupCodes(ctx), audit(ctx, fact)]);
  return dropped.length;
}
