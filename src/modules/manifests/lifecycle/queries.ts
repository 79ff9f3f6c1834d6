import type { UserContext } from '../../../platform/context/request-context.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { Manifest } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { ManifestFields } from './fields.js';
import type { ManifestStatus } from './status.js';

/** Columns are named as in the audit trail. */
export type ManifestRow = ManifestFields & {
  id: Manifest['id'];
  manifest_number: Manifest['manifestNumber'];
  status: ManifestStatus;
  /** The start of the transaction, by the database's clock. */
  now: Date;
};

/**
 * Selects a manifest and locks it until the end of the transaction. Every change of a manifest or its
 * packages takes this lock first, so that no package is added between a check and the change that relies on
 * it.
 */
export const lockedManifest = (ctx: UserContext, id: string): Sql<ManifestRow> => sql`
  select m.id, m.manifest_number, m.status, m.awb_number, m.airline_prefix,
    to_char(m.flight_date, 'YYYY-MM-DD') as flight_date, m.flight_number, m.notes, now() as now
  from manifests m
  where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid
  for update`;

export type NewManifest = ManifestFields & { id: string; suffix: string; warehouse_id: string };

/**
 * Stores a draft with today's date and returns its number, or no row if the number is already in use. SQL, because the
 * number contains the database's date and a conflict must not end the transaction.
 */
export const insertManifest = (
  { tenantId }: UserContext,
  draft: NewManifest,
): Sql<Pick<Manifest, 'manifestNumber'>> => sql`
  insert into manifests (tenant_id, id, manifest_number, awb_number, airline_prefix, flight_date, flight_number,
    notes, warehouse_id)
  values (${tenantId}::uuid, ${draft.id}::uuid,
    'MAN-' || to_char(now() at time zone 'UTC', 'YYYYMMDD') || '-' || ${draft.suffix}::text,
    ${draft.awb_number}, ${draft.airline_prefix}, ${draft.flight_date}::date, ${draft.flight_number},
    ${draft.notes}, ${draft.warehouse_id}::uuid)
  on conflict (tenant_id, manifest_number) do nothing
  returning manifest_number as "manifestNumber"`;
