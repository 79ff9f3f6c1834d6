import { audit, factOf } from '../../platform/audit/audit.js';
import type { Secrets } from '../../platform/access/secrets.js';
import type { Db } from '../../platform/db/database.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { contextOf, forEachBatch, type BatchRange } from './batches.js';
import {
  deleteBackupCodes,
  LOOKUP_COLUMNS,
  selectLookups,
  updateLookups,
  type LookupColumn,
  type StoredLookup,
} from './secret-columns.js';

type Print = (line: string) => void;

const contextsOf = (db: Db, tenantId: string) => () => contextOf(db, tenantId, 'rehash');

/** The lookup of a column, for forEachBatch. */
const selectOf = (column: LookupColumn) => (ctx: SystemContext, range: BatchRange) =>
  selectLookups(ctx, column, range);

const REMEDIES: Record<LookupColumn['purpose'], string> = {
  api_key: "the API key cannot be decrypted. Create a new one in the courier's settings.",
  service_token: 'the service token cannot be decrypted. Rotate it.',
  tracking_link: 'the key of the tracking link cannot be decrypted. Replace the link.',
};

/** Counts the API keys, service tokens and tracking links that cannot be decrypted, so that their hash cannot be made, and prints each. Changes nothing. */
export async function countUnopened(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
  print: Print,
): Promise<number> {
  let unopened = 0;
  for (const column of LOOKUP_COLUMNS)
    for (const tenantId of tenantIds)
      await forEachBatch(contextsOf(db, tenantId), selectOf(column), async (_ctx, batch) => {
        for (const stored of batch) {
          if (hashOf(tenantId, secrets, column, stored) !== undefined) continue;
          unopened += 1;
          print(`${column.table} ${stored.id}: ${REMEDIES[column.purpose]}`);
        }
      });
  return unopened;
}

/** Counts the API keys, service tokens and tracking links whose hash another LOOKUP_KEY has made. Changes nothing. Those that cannot be decrypted are not counted. */
export async function countOtherHashes(db: Db, secrets: Secrets, tenantIds: string[]): Promise<number> {
  let others = 0;
  for (const column of LOOKUP_COLUMNS)
    for (const tenantId of tenantIds)
      await forEachBatch(contextsOf(db, tenantId), selectOf(column), async (_ctx, batch) => {
        others += batch.filter((stored) => {
          const own = hashOf(tenantId, secrets, column, stored);
          return own !== undefined && own !== stored.hash;
        }).length;
      });
  return others;
}

/**
 * Makes the hash of every API key and service token again, with the LOOKUP_KEY of these settings, so that they stay valid after that key
 * was replaced. Returns the number of hashes that were replaced, by their kind.
 */
export async function rehashLookups(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
): Promise<Record<LookupColumn['purpose'], number>> {
  const rehashed = { api_key: 0, service_token: 0, tracking_link: 0 };
  for (const column of LOOKUP_COLUMNS)
    for (const tenantId of tenantIds)
      await forEachBatch(contextsOf(db, tenantId), selectOf(column), async (ctx, batch) => {
        const changed = batch.flatMap((stored) => {
          const renewed = hashOf(tenantId, secrets, column, stored);
          const { id, cipher, hash } = stored;
          return cipher === null || renewed === undefined || renewed === hash
            ? []
            : [{ id, cipher, renewed }];
        });
        if (changed.length === 0) return;
        const action = `tenant.${column.purpose}s_rehashed` as const;
        const fact = factOf(action, tenantId, { after: { up_to: changed.length } });
        const [updated] = await ctx.write([updateLookups(ctx, column, changed), audit(ctx, fact)]);
        rehashed[column.purpose] += updated.length;
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

/** Returns undefined if the credential cannot be decrypted. */
function hashOf(
  tenantId: string,
  secrets: Secrets,
  { field, purpose }: LookupColumn,
  { id, cipher }: StoredLookup,
): string | undefined {
  if (cipher === null) return undefined;
  try {
    return secrets.lookupHash(secrets.decrypt(cipher, { tenantId, rowId: id, field }), purpose);
  } catch {
    return undefined;
  }
}
