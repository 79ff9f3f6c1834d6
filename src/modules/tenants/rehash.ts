import { audit, factOf } from '../../platform/audit/audit.js';
import type { Secrets } from '../../platform/access/secrets.js';
import type { Db } from '../../platform/db/database.js';
import { contextOf, forEachBatch } from './batches.js';
import { deleteBackupCodes, selectApiKeys, updateApiKeyHashes, type StoredApiKey } from './secret-columns.js';

type Print = (line: string) => void;

const contextsOf = (db: Db, tenantId: string) => () => contextOf(db, tenantId, 'rehash');

/** Counts the API keys that cannot be decrypted, so that their hash cannot be made, and prints each. Changes nothing. */
export async function countUnopened(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
  print: Print,
): Promise<number> {
  let unopened = 0;
  for (const tenantId of tenantIds)
    await forEachBatch(contextsOf(db, tenantId), selectApiKeys, async (_ctx, batch) => {
      for (const stored of batch) {
        if (hashOf(tenantId, secrets, stored) !== undefined) continue;
        unopened += 1;
        print(
          `couriers ${stored.id}: the API key cannot be decrypted. Create a new one in the courier's settings.`,
        );
      }
    });
  return unopened;
}

/** Counts the API keys whose hash another LOOKUP_KEY has made. Changes nothing. Those that cannot be decrypted are not counted. */
export async function countOtherHashes(db: Db, secrets: Secrets, tenantIds: string[]): Promise<number> {
  let others = 0;
  for (const tenantId of tenantIds)
    await forEachBatch(contextsOf(db, tenantId), selectApiKeys, async (_ctx, batch) => {
      others += batch.filter((stored) => {
        const own = hashOf(tenantId, secrets, stored);
        return own !== undefined && own !== stored.hash;
      }).length;
    });
  return others;
}

/**
 * Makes the hash of every API key again, with the LOOKUP_KEY of these settings, so that keys stay valid after that key was replaced.
 * Returns the number of hashes that were replaced.
 */
export async function rehashLookups(db: Db, secrets: Secrets, tenantIds: string[]): Promise<number> {
  let rehashed = 0;
  for (const tenantId of tenantIds)
    await forEachBatch(contextsOf(db, tenantId), selectApiKeys, async (ctx, batch) => {
      const changed = batch.flatMap(({ id, cipher, hash }) => {
        const renewed = hashOf(tenantId, secrets, { id, cipher, hash });
        return cipher === null || renewed === undefined || renewed === hash ? [] : [{ id, cipher, renewed }];
      });
      if (changed.length === 0) return;
      const fact = factOf('tenant.api_keys_rehashed', tenantId, { after: { up_to: changed.length } });
      const [updated] = await ctx.write([updateApiKeyHashes(ctx, changed), audit(ctx, fact)]);
      rehashed += updated.length;
    });
  return rehashed;
}

/** Deletes the backup codes of all users. They are stored as hashes only, so they do not match a new LOOKUP_KEY. */
export async function dropBackupCodes(db: Db, tenantIds: string[]): Promise<number> {
  let dropped = 0;
  for (const tenantId of tenantIds) {
    const ctx = contextOf(db, tenantId, 'rehash');
    const fact = factOf('tenant.backup_codes_dropped', tenantId);
    const [codes] = await ctx.write([deleteBackupCodes(ctx), audit(ctx, fact)]);
    dropped += codes.length;
  }
  return dropped;
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
