import type { components } from '../../../../generated/contract.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { onceIf, sql, type Sql } from '../../../platform/db/statements.js';
import { presentCodeColumn } from '../../../platform/db/user-codes.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Prealert } from '../../../platform/db/models/types.js';
import { hasDroppedPart } from '../../tracking-numbers/public.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { SubmittingCaller } from '../../../platform/identity/callers.js';
import type { Scope, UserScope } from '../../../platform/db/scope.js';

/** Selects the tenant and the id of the courier that pre-alerts belong to. */
export type OwnerSelection = Sql;

export const ownerOfKey = (ctx: Scope<SubmittingCaller>): OwnerSelection =>
  sql`select c.tenant_id, c.id as courier_id from couriers c
    where ${tenantRows(ctx, 'c')} and ${isOwner(ctx.caller)} and c.is_active`;

const isOwner = (caller: SubmittingCaller): Sql =>
  caller.kind === 'token' ? sql`c.id = ${caller.courierId}::uuid` : sql`c.api_key_hash = ${caller.keyHash}`;

export const ownerById = (ctx: Scope, courierId: string): OwnerSelection =>
  sql`select c.tenant_id, c.id as courier_id from couriers c
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/** The courier of a pre-alert that the caller may read. */
export const ownerOfPrealert = (ctx: UserScope, id: string): OwnerSelection =>
  sql`select o.tenant_id, o.courier_id from prealerts o where ${ownRows(ctx, 'o')} and o.id = ${id}::uuid`;

export type ExistingPrealert = components['schemas']['ExistingPrealert'];

export type ExistingRow = Pick<Prealert, 'id' | 'userCode' | 'trackingNumber' | 'announcedKey'> & {
  status: components['schemas']['PrealertStatus'];
};

/** A pre-alert that was not stored because its courier has announced the number. */
type Refused = Announced &
  Pick<Prealert, 'userCode'> & {
    /** The number as it was sent, and its keys, where the request can have more than the number. */
    sentNumber?: string;
    keys?: string[];
  };

/** A number that was announced, and its key. */
type Announced = Pick<Prealert, 'trackingNumber' | 'trackingKey'>;

const CONSTRAINTS = [
  'prealerts_tenant_id_courier_id_tracking_number_key',
  'prealerts_tenant_id_courier_id_announced_key_key',
];

/** Selects the pre-alerts that the owner has of these numbers, in any spelling. Other couriers' are never selected. */
export function findExisting(owner: OwnerSelection, announced: readonly Announced[]): Sql<ExistingRow> {
  const selected = (column: Sql, values: string[]) => sql`
    select p.id, ${presentCodeColumn('p')}, p.tracking_number as "trackingNumber", p.announced_key as "announcedKey", p.status
    from owner join prealerts p on p.tenant_id = owner.tenant_id and p.courier_id = owner.courier_id
      and ${column} = any(${values}::text[])`;
  const keys = announced.map(({ trackingKey }) => trackingKey);
  const numbers = announced.map(({ trackingNumber }) => trackingNumber);
  return onceIf(announced.length === 1)`with owner as materialized (${owner})
    ${selected(sql`p.announced_key`, keys)} union ${selected(sql`p.tracking_number`, numbers)}`;
}

/** Returns the function that finds the pre-alert of a number among these. The one of the parcel counts before the one of the spelling. */
export function finderOf(rows: readonly ExistingRow[]): (announced: Announced) => ExistingRow | undefined {
  const byKey = new Map(rows.map((row) => [row.announcedKey, row]));
  const byNumber = new Map(rows.map((row) => [row.trackingNumber, row]));
  return ({ trackingKey, trackingNumber }) => byKey.get(trackingKey) ?? byNumber.get(trackingNumber);
}

/** `differs` tells a repeated submission from one for another customer. */
export const viewExisting = (
  row: ExistingRow,
  { userCode }: Pick<Refused, 'userCode'>,
): ExistingPrealert => ({
  prealert_id: row.id,
  user_code: row.userCode,
  status: row.status,
  differs: row.userCode !== userCode,
});

/** Returns the error for a number that the owner has announced. It names the existing pre-alert, unless it was deleted meanwhile. */
export async function duplicateError(
  ctx: RequestContext,
  owner: OwnerSelection,
  refused: Refused,
): Promise<ApiError> {
  const [rows] = await ctx.read([findExisting(owner, [refused])]);
  const row = finderOf(rows)(refused);
  return duplicateOf(row && viewExisting(row, refused), refused);
}

/** Whether the courier announced the parcel before, or for another customer, or lost a second number, must be plain from the message alone. */
export function duplicateOf(existing: ExistingPrealert | undefined, refused: Refused): ApiError {
  if (!existing) return new ApiError('duplicate_tracking_number');
  const { sentNumber, trackingNumber, keys } = refused;
  if (sentNumber !== undefined && keys && hasDroppedPart({ sentNumber, trackingNumber, keys }))
    return new ApiError('duplicate_tracking_number', {
      variant: 'part',
      args: { number: trackingNumber },
      existing,
    });
  if (!existing.differs) return new ApiError('duplicate_tracking_number', { existing });
  const args = { user_code: existing.user_code };
  return new ApiError('duplicate_tracking_number', { variant: 'differs', args, existing });
}

/**
 * Runs a write that a unique constraint may refuse. The existing pre-alert is read only then, so that a new one costs no
 * further round trip.
 *
 * @throws ApiError duplicate_tracking_number with the existing pre-alert
 */
export async function namingExisting<Result>(
  ctx: RequestContext,
  owner: OwnerSelection,
  refused: Refused,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!CONSTRAINTS.some((constraint) => violates(error, constraint))) throw error;
    throw await duplicateError(ctx, owner, refused);
  }
}
