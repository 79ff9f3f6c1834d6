import type { components } from '../../../../generated/contract.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { onceIf, type Sql } from '../../../platform/db/statements.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Prealert } from '../../../platform/db/models/types.js';
import type { OwnerSelection } from './owners.js';

export type ExistingPrealert = components['schemas']['ExistingPrealert'];

export type ExistingRow = Pick<Prealert, 'id' | 'userCode' | 'trackingNumber'> & {
  status: components['schemas']['PrealertStatus'];
};

/** A pre-alert that was not stored because its courier has announced the number. */
type Refused = Pick<Prealert, 'trackingNumber' | 'userCode'>;

const TRACKING_NUMBERS = 'prealerts_tenant_id_courier_id_tracking_number_key';

/** Selects the pre-alerts that the owner has of these numbers. Other couriers' are never selected. */
export const findExisting = (owner: OwnerSelection, trackingNumbers: readonly string[]): Sql<ExistingRow> =>
  onceIf(trackingNumbers.length === 1)`with owner as materialized (${owner})
    select p.id, p.user_code as "userCode", p.tracking_number as "trackingNumber", p.status
    from owner join prealerts p on p.tenant_id = owner.tenant_id and p.courier_id = owner.courier_id
      and p.tracking_number = any(${trackingNumbers}::text[])`;

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
  const [[row]] = await ctx.read([findExisting(owner, [refused.trackingNumber])]);
  return new ApiError('duplicate_tracking_number', row ? { existing: viewExisting(row, refused) } : {});
}

/**
 * Runs a write that the unique constraint may refuse. The existing pre-alert is read only then, so that a new one costs no
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
    if (!violates(error, TRACKING_NUMBERS)) throw error;
    throw await duplicateError(ctx, owner, refused);
  }
}
