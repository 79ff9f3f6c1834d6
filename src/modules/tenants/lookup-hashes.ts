import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { SystemScope } from '../../platform/db/scope.js';

/** The cipher is missing only in rows that were written without the service. */
export type StoredApiKey = { id: string; cipher: string | null; hash: string };

/** The API keys that follow the courier `after`, in the order of the couriers' ids. */
export const selectApiKeys = (
  ctx: SystemScope,
  { after, limit }: { after: string; limit: number },
): Sql<StoredApiKey> =>
  sql`select c.id, c.api_key_cipher as cipher, c.api_key_hash as hash from couriers c
    where ${tenantRows(ctx, 'c')} and c.api_key_hash is not null and c.id > ${after}::uuid
    order by c.id limit ${limit}::int`;

/** Updates the hashes of keys that were not replaced since they were read, and returns the couriers' ids. */
export const updateApiKeyHashes = (
  ctx: SystemScope,
  batch: { id: string; cipher: string; renewed: string }[],
): Sql<{ id: string }> =>
  sql`update couriers c set api_key_hash = w.renewed
    from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ cipher }) => cipher)}::text[],
      ${batch.map(({ renewed }) => renewed)}::text[]) as w (id, cipher, renewed)
    where ${tenantRows(ctx, 'c')} and c.id = w.id and c.api_key_cipher = w.cipher
    returning c.id`;

export const deleteBackupCodes = (ctx: SystemScope): Sql<{ id: string }> =>
  sql`delete from backup_codes b where ${tenantRows(ctx, 'b')} returning b.id`;
