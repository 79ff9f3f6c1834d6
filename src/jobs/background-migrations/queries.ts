import { sql, type Sql } from '../../platform/db/statements.js';
import type { Item } from './rekey.js';

export type ProgressRow = { tenantId: string | null; lastKey: string | null; batchRows: number };

/** Locks the progress of a migration. Returns no row if it is paused, or another worker runs a batch or is past this tenant. */
export const lockProgress = (name: string, tenantId: string): Sql<ProgressRow> => sql`
  select m.tenant_id as "tenantId", m.last_key as "lastKey", m.batch_rows as "batchRows"
  from installation.background_migrations m
  where m.name = ${name} and m.status = 'running' and (m.tenant_id is null or m.tenant_id <= ${tenantId}::uuid)
  for update skip locked`;

/**
 * The result of a batch: the key of its last row, null if there was none, the number of rows, and the rows that a step of the
 * worker computes.
 */
export type BatchRow = { last: string | null; rows: number; items?: Item[] };

/** @param text the statement of the migration: $1 is the key after which it begins, null at first, and $2 the number of rows */
export function batchOf(text: string, after: string | null, rows: number): Sql<BatchRow> {
  const parts = text.split(/(\$[12])/);
  const strings = parts.filter((_, index) => index % 2 === 0);
  const values = parts.filter((_, index) => index % 2 === 1).map((name) => (name === '$1' ? after : rows));
  return sql(strings, ...values);
}

export type NewProgress = {
  tenantId: string;
  lastKey: string | null;
  rows: number;
  batchRows: number;
  findings: number;
};

export const storeProgress = (
  name: string,
  { tenantId, lastKey, rows, batchRows, findings }: NewProgress,
): Sql => sql`
  update installation.background_migrations
  set tenant_id = ${tenantId}::uuid, last_key = ${lastKey}, rows_done = rows_done + ${rows}::int,
    batch_rows = ${batchRows}::int, findings = findings + ${findings}::int, last_error = null, updated_at = now()
  where name = ${name}`;
