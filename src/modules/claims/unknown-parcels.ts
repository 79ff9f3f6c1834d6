import type { components } from '../../../generated/contract.js';
import { pageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import { keysOfStored } from '../tracking-numbers/public.js';
import { claimantsOfKeys, pageOfUnknown, type ClaimantRow, type UnknownRow } from './unknown-queries.js';

export type UnknownParcel = UnknownRow & { claimants: ClaimantRow[] };

const MAX_CLAIMANTS = 50;

/**
 * Returns the packages without a customer, newest first, with those who claim or have announced them, oldest first. A claimant belongs to
 * a package if it has one of the keys under which a scan of the package would find it.
 */
export async function listUnknownParcels(
  ctx: UserContext,
  query: QueryOf<'listUnknownParcels'>,
): Promise<PageBefore<UnknownParcel>> {
  return ctx.read(async (tx) => {
    const { rows, meta } = pageBefore(await tx.query(pageOfUnknown(tx, query)), query.limit);
    const parcels = rows.map((row) => ({ row, keys: new Set(keysOfStored(row)) }));
    const keys = [...new Set(parcels.flatMap((parcel) => [...parcel.keys]))];
    const claimants = keys.length === 0 ? [] : await tx.query(claimantsOfKeys(tx, keys));
    return {
      rows: parcels.map(({ row, keys: own }) => ({
        ...row,
        claimants: claimants.filter(({ trackingKey }) => own.has(trackingKey)).slice(0, MAX_CLAIMANTS),
      })),
      meta,
    };
  });
}

export const viewUnknown = (row: UnknownParcel): components['schemas']['UnknownParcel'] => ({
  package_id: row.id,
  house_number: row.houseNumber,
  tracking_number: row.trackingNumber,
  courier_id: row.courierId,
  status: row.status,
  entry_date_time: formatDateTime(row.receivedAt),
  claimants: row.claimants.map((claimant) => ({
    claim_id: claimant.claimId,
    prealert_id: claimant.prealertId,
    courier_id: claimant.courierId,
    user_code: claimant.userCode,
    since: formatDateTime(claimant.since),
  })),
});
