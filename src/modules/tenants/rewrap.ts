import { auditStatement } from '../../platform/audit/audit.js';
import type { SystemCaller } from '../../platform/identity/callers.js';
import type { EncryptionContext, Secrets } from '../../platform/access/secrets.js';
import { tenantRows } from '../../platform/db/filters.js';
import { pipeline, raw, snapshot, sql, type Db, type Sql } from '../../platform/db/transaction.js';
import { newId } from '../../platform/values/ids.js';

/** A column that contains encrypted secrets. */
type Column = {
  table: 'couriers' | 'users' | 'idempotency_keys' | 'account_mails';
  column: string;
  field: EncryptionContext['field'];
};

const COLUMNS: Column[] = [
  { table: 'couriers', column: 'api_key_cipher', field: 'api_key' },
  { table: 'couriers', column: 'api_token_cipher', field: 'api_token' },
  { table: 'couriers', column: 'webhook_secret_cipher', field: 'webhook_secret' },
  { table: 'couriers', column: 'webhook_previous_secret_cipher', field: 'webhook_previous_secret' },
  { table: 'users', column: 'totp_secret', field: 'totp_secret' },
  { table: 'users', column: 'totp_pending_secret', field: 'totp_pending_secret' },
  { table: 'idempotency_keys', column: 'answer_cipher', field: 'idempotent_answer' },
  { table: 'account_mails', column: 'secret_cipher', field: 'mail_secret' },
];

const BATCH_ROWS = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

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
  print: (line: string) => void,
): Promise<Rewrapped> {
  const total = { unopened: 0, stale: 0 };
  for (const column of COLUMNS) {
    const done = { unopened: 0, rewrapped: 0 };
    const versions = new Map<string, number>();
    for (const tenantId of tenantIds) {
      const caller: SystemCaller = { kind: 'system', tenantId };
      const { unopened, rewrapped } = await rewrapColumn({ db, secrets, caller, column, print });
      done.unopened += unopened;
      done.rewrapped += rewrapped;
      for (const { version, count } of await countVersions(db, caller, column))
        versions.set(version, (versions.get(version) ?? 0) + count);
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

type Work = {
  db: Db;
  secrets: Secrets;
  caller: SystemCaller;
  column: Column;
  print: (line: string) => void;
};
type StoredSecret = { id: string; cipher: string };

async function rewrapColumn(work: Work): Promise<{ unopened: number; rewrapped: number }> {
  const { db, caller, column } = work;
  const done = { unopened: 0, rewrapped: 0 };
  for (let after = FIRST_ID, isMore = true; isMore;) {
    const [rows] = await snapshot(db, caller, [selectBatch(db, caller, column, after)]);
    // The statement selects exactly these columns.
    const batch = (rows ?? []) as StoredSecret[];
    const opened = batch.map((stored) => reencrypt(work, stored));
    done.unopened += opened.filter((each) => each === undefined).length;
    done.rewrapped += await storeBatch(
      work,
      opened.flatMap((each) => each ?? []),
    );
    after = batch.at(-1)?.id ?? after;
    isMore = batch.length === BATCH_ROWS;
  }
  return done;
}

type ReencryptedSecret = StoredSecret & { renewed: string };

/**
 * Returns the secret encrypted with the newest key, an empty array if it is already, or undefined if it
 * cannot be decrypted.
 */
function reencrypt(
  { secrets, caller, column, print }: Work,
  stored: StoredSecret,
): ReencryptedSecret[] | undefined {
  const context = { tenantId: caller.tenantId, rowId: stored.id, field: column.field };
  try {
    const plain = secrets.decrypt(stored.cipher, context);
    const isCurrent = secrets.isNewest(stored.cipher) && secrets.isBoundTo(stored.cipher, context);
    return isCurrent ? [] : [{ ...stored, renewed: secrets.encrypt(plain, context) }];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    print(`${column.table} ${stored.id}: ${column.column} cannot be decrypted (${why})`);
    return undefined;
  }
}

/** Updates the secrets that were not changed since they were read. Returns the number of updated rows. */
async function storeBatch({ db, caller, column }: Work, batch: ReencryptedSecret[]): Promise<number> {
  if (batch.length === 0) return 0;
  const fact = {
    action: 'tenant.secrets_rewrapped',
    entity: 'tenant' as const,
    entityId: caller.tenantId,
    after: { column: `${column.table}.${column.column}`, up_to: batch.length },
  };
  const [written] = await pipeline(db, caller, [
    updateBatch(db, caller, column, batch),
    auditStatement(caller, `rewrap ${newId()}`, [fact]),
  ]);
  return written?.length ?? 0;
}

function selectBatch(db: Db, caller: SystemCaller, { table, column }: Column, after: string): Sql {
  return sql`select t.id, t.${raw(column)} as cipher from ${raw(table)} t
    where ${tenantRows(db, caller, 't')} and t.${raw(column)} is not null and t.id > ${after}::uuid
    order by t.id limit ${BATCH_ROWS}::int`;
}

function updateBatch(
  db: Db,
  caller: SystemCaller,
  { table, column }: Column,
  batch: ReencryptedSecret[],
): Sql {
  return sql`update ${raw(table)} t set ${raw(column)} = w.renewed
    from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ cipher }) => cipher)}::text[],
      ${batch.map(({ renewed }) => renewed)}::text[]) as w (id, cipher, renewed)
    where ${tenantRows(db, caller, 't')} and t.id = w.id and t.${raw(column)} = w.cipher
    returning t.id`;
}

async function countVersions(
  db: Db,
  caller: SystemCaller,
  { table, column }: Column,
): Promise<{ version: string; count: number }[]> {
  const [rows] = await snapshot(db, caller, [
    sql`select split_part(t.${raw(column)}, '.', 1) as version, count(*)::int as count from ${raw(table)} t
      where ${tenantRows(db, caller, 't')} and t.${raw(column)} is not null group by 1 order by 1`,
  ]);
  // The statement selects exactly these columns.
  return (rows ?? []) as { version: string; count: number }[];
}
