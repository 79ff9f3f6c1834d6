import { audit, factOf } from '../../platform/audit/audit.js';
import type { Secrets } from '../../platform/access/secrets.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { contextOf, forEachBatch, type BatchRange } from './batches.js';
import {
  countKeyVersions,
  SECRET_COLUMNS,
  selectSecrets,
  updateSecrets,
  type ReencryptedSecret,
  type SecretColumn,
  type StoredSecret,
} from './secret-columns.js';

/** The secrets of a column, for forEachBatch. */
const selectOf = (column: SecretColumn) => (ctx: SystemContext, range: BatchRange) =>
  selectSecrets(ctx, column, range);

type Print = (line: string) => void;

export type Rewrapped = {
  /** The number of secrets that no configured key can decrypt. Table and row of each were printed. */
  unopened: number;
  /** The number of secrets still encrypted with an older key, including those that cannot be decrypted. */
  stale: number;
};

/**
 * Encrypts every secret with the newest key, and verifies that the current ones can be decrypted. The service
 * may run at the same time: a secret that was changed since it was read is not overwritten. Prints counts,
 * never a secret.
 */
export async function rewrapSecrets(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
  print: Print,
): Promise<Rewrapped> {
  const total = { unopened: 0, stale: 0 };
  for (const column of SECRET_COLUMNS) {
    const done = { unopened: 0, rewrapped: 0 };
    const versions = new Map<string, number>();
    for (const tenantId of tenantIds) {
      const newContext = () => contextOf(db, tenantId, 'rewrap');
      const { unopened, rewrapped } = await rewrapColumn(newContext, secrets, column, print);
      done.unopened += unopened;
      done.rewrapped += rewrapped;
      const ctx = newContext();
      const [counts] = await ctx.read([countKeyVersions(ctx, column)]);
      for (const { version, count } of counts) versions.set(version, (versions.get(version) ?? 0) + count);
    }
    const counts = [...versions].sort().map(([version, count]) => `${version} ${count}`);
    print(
      `${column.table}.${column.column}: ${done.rewrapped} rewrapped, now ${counts.join(', ') || 'none'}`,
    );
    total.unopened += done.unopened;
    for (const [version, count] of versions) if (!secrets.isNewest(`${version}.`)) total.stale += count;
  }
  return total;
}

/** Counts the secrets that no configured key can decrypt, and prints table and row of each. Changes nothing. */
export async function countUndecryptable(
  db: Db,
  secrets: Secrets,
  tenantIds: string[],
  print: Print,
): Promise<number> {
  let unopened = 0;
  for (const column of SECRET_COLUMNS)
    for (const tenantId of tenantIds) {
      const newContext = () => contextOf(db, tenantId, 'rewrap');
      await forEachBatch(newContext, selectOf(column), async (ctx, batch) => {
        unopened += batch.filter((stored) => !reencrypt(ctx, secrets, column, stored, print)).length;
      });
    }
  return unopened;
}

async function rewrapColumn(
  newContext: () => SystemContext,
  secrets: Secrets,
  column: SecretColumn,
  print: Print,
): Promise<{ unopened: number; rewrapped: number }> {
  const done = { unopened: 0, rewrapped: 0 };
  await forEachBatch(newContext, selectOf(column), async (ctx, batch) => {
    const opened = batch.map((stored) => reencrypt(ctx, secrets, column, stored, print));
    done.unopened += opened.filter((each) => each === undefined).length;
    done.rewrapped += await storeBatch(
      ctx,
      column,
      opened.flatMap((each) => each ?? []),
    );
  });
  return done;
}

/**
 * Returns the secret encrypted with the newest key, an empty array if it is already, or undefined if it
 * cannot be decrypted.
 */
function reencrypt(
  { tenantId }: SystemContext,
  secrets: Secrets,
  { table, column, field }: SecretColumn,
  stored: StoredSecret,
  print: Print,
): ReencryptedSecret[] | undefined {
  const context = { tenantId, rowId: stored.id, field };
  try {
    const plain = secrets.decrypt(stored.cipher, context);
    const isCurrent = secrets.isNewest(stored.cipher) && secrets.isBoundTo(stored.cipher, context);
    return isCurrent ? [] : [{ ...stored, renewed: secrets.encrypt(plain, context) }];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    print(`${table} ${stored.id}: ${column} cannot be decrypted (${why})`);
    return undefined;
  }
}

/** Returns the number of updated rows. */
async function storeBatch(
  ctx: SystemContext,
  column: SecretColumn,
  batch: ReencryptedSecret[],
): Promise<number> {
  if (batch.length === 0) return 0;
  const after = { column: `${column.table}.${column.column}`, up_to: batch.length };
  const fact = factOf('tenant.secrets_rewrapped', ctx.tenantId, { after });
  const [updated] = await ctx.write([updateSecrets(ctx, column, batch), audit(ctx, fact)]);
  return updated.length;
}
