import type { EncryptionContext } from '../../platform/access/secrets.js';
import { tenantRows } from '../../platform/db/filters.js';
import { raw, sql, type Sql } from '../../platform/db/statements.js';
import type { SystemScope } from '../../platform/db/scope.js';

/** A column that contains encrypted secrets. */
export type SecretColumn = {
  table:
    | 'couriers'
    | 'users'
    | 'idempotency_keys'
    | 'account_mails'
    | 'service_tokens'
    | 'feeds'
    | 'tracking_links';
  column: string;
  field: EncryptionContext['field'];
  /** Whether there are many rows, and old keys are only in the oldest. */
  expires?: true;
};

export const SECRET_COLUMNS: SecretColumn[] = [
  { table: 'couriers', column: 'api_key_cipher', field: 'api_key' },
  { table: 'couriers', column: 'api_token_cipher', field: 'api_token' },
  { table: 'couriers', column: 'webhook_secret_cipher', field: 'webhook_secret' },
  { table: 'couriers', column: 'webhook_previous_secret_cipher', field: 'webhook_previous_secret' },
  { table: 'service_tokens', column: 'digest_cipher', field: 'service_token' },
  { table: 'service_tokens', column: 'previous_digest_cipher', field: 'previous_service_token' },
  { table: 'feeds', column: 'secret_cipher', field: 'feed_secret' },
  { table: 'feeds', column: 'previous_cipher', field: 'previous_feed_secret' },
  { table: 'tracking_links', column: 'key_cipher', field: 'tracking_key', expires: true },
  { table: 'users', column: 'totp_secret', field: 'totp_secret' },
  { table: 'users', column: 'totp_pending_secret', field: 'totp_pending_secret' },
  { table: 'idempotency_keys', column: 'answer_cipher', field: 'idempotent_answer', expires: true },
  { table: 'account_mails', column: 'secret_cipher', field: 'mail_secret', expires: true },
];

export type StoredSecret = { id: string; cipher: string };

/** The secrets that follow the row `after`, in the order of their ids. */
export function selectSecrets(
  ctx: SystemScope,
  { table, column }: SecretColumn,
  { after, limit }: { after: string; limit: number },
): Sql<StoredSecret> {
  return sql`select t.id, t.${raw(column)} as cipher from ${raw(table)} t
    where ${tenantRows(ctx, 't')} and t.${raw(column)} is not null and t.id > ${after}::uuid
    order by t.id limit ${limit}::int`;
}

/** Rows of each version of a key, at most three. Of columns with many rows, only the oldest and the newest rows are read. */
export function sampleSecrets(ctx: SystemScope, { table, column, expires }: SecretColumn): Sql<StoredSecret> {
  const stored = sql`select t.id, t.${raw(column)} as cipher from ${raw(table)} t
    where ${tenantRows(ctx, 't')} and t.${raw(column)} is not null`;
  const ends = sql`(${stored} order by t.id limit 20) union all (${stored} order by t.id desc limit 20)`;
  return sql`select id, cipher from (
      select s.id, s.cipher, row_number() over (partition by split_part(s.cipher, '.', 1) order by s.id) as place
      from (${expires ? ends : stored}) s) numbered
    where place <= 3`;
}

/** `renewed` is the secret encrypted with the newest key. */
export type ReencryptedSecret = StoredSecret & { renewed: string };

/** Updates the secrets that were not changed since they were read, and returns their ids. */
export function updateSecrets(
  ctx: SystemScope,
  { table, column }: SecretColumn,
  batch: ReencryptedSecret[],
): Sql<{ id: string }> {
  return sql`update ${raw(table)} t set ${raw(column)} = w.renewed
    from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ cipher }) => cipher)}::text[],
      ${batch.map(({ renewed }) => renewed)}::text[]) as w (id, cipher, renewed)
    where ${tenantRows(ctx, 't')} and t.id = w.id and t.${raw(column)} = w.cipher
    returning t.id`;
}

/** Counts the secrets per version of the key. */
export const countKeyVersions = (
  ctx: SystemScope,
  { table, column }: SecretColumn,
): Sql<{ version: string; count: number }> =>
  sql`select split_part(t.${raw(column)}, '.', 1) as version, count(*)::int as count from ${raw(table)} t
    where ${tenantRows(ctx, 't')} and t.${raw(column)} is not null group by 1 order by 1`;

/** A credential that is looked up by a keyed hash, and stored encrypted too, so that its hash can be made again. */
export type LookupColumn = {
  table: 'couriers' | 'service_tokens' | 'tracking_links';
  hash: 'api_key_hash' | 'token_hash' | 'previous_hash' | 'key_hash';
  cipher: 'api_key_cipher' | 'digest_cipher' | 'previous_digest_cipher' | 'key_cipher';
  field: EncryptionContext['field'];
  purpose: 'api_key' | 'service_token' | 'tracking_link';
};

export const LOOKUP_COLUMNS: LookupColumn[] = [
  { table: 'couriers', hash: 'api_key_hash', cipher: 'api_key_cipher', field: 'api_key', purpose: 'api_key' },
  {
    table: 'service_tokens',
    hash: 'token_hash',
    cipher: 'digest_cipher',
    field: 'service_token',
    purpose: 'service_token',
  },
  {
    table: 'service_tokens',
    hash: 'previous_hash',
    cipher: 'previous_digest_cipher',
    field: 'previous_service_token',
    purpose: 'service_token',
  },
  {
    table: 'tracking_links',
    hash: 'key_hash',
    cipher: 'key_cipher',
    field: 'tracking_key',
    purpose: 'tracking_link',
  },
];

/** The cipher is missing only in rows that were written without the service. */
export type StoredLookup = { id: string; cipher: string | null; hash: string };

/** The credentials that follow the row `after`, in the order of the rows' ids. */
export const selectLookups = (
  ctx: SystemScope,
  { table, hash, cipher }: LookupColumn,
  { after, limit }: { after: string; limit: number },
): Sql<StoredLookup> =>
  sql`select t.id, t.${raw(cipher)} as cipher, t.${raw(hash)} as hash from ${raw(table)} t
    where ${tenantRows(ctx, 't')} and t.${raw(hash)} is not null and t.id > ${after}::uuid
    order by t.id limit ${limit}::int`;

/** Updates the hashes of credentials that were not replaced since they were read, and returns the rows' ids. */
export const updateLookups = (
  ctx: SystemScope,
  { table, hash, cipher }: LookupColumn,
  batch: { id: string; cipher: string; renewed: string }[],
): Sql<{ id: string }> =>
  sql`update ${raw(table)} t set ${raw(hash)} = w.renewed
    from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ cipher }) => cipher)}::text[],
      ${batch.map(({ renewed }) => renewed)}::text[]) as w (id, cipher, renewed)
    where ${tenantRows(ctx, 't')} and t.id = w.id and t.${raw(cipher)} = w.cipher
    returning t.id`;

export const deleteBackupCodes = (ctx: SystemScope): Sql<{ id: string }> =>
  sql`delete from backup_codes b where ${tenantRows(ctx, 'b')} returning b.id`;
