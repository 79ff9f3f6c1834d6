import type { components } from '../../../generated/contract.js';
import { pauseWhenDue } from '../../platform/concurrency/pause-when-due.js';
import { pageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import type { ReadTx } from '../../platform/db/scope.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { formatDateTime } from '../../platform/values/time.js';
import { arrivalsOf, isAfterReceipt, type Arrivals } from '../prealerts/public.js';
import { keysOfStored } from '../tracking-numbers/public.js';
import { viewDocument } from './documents/documents.js';
import { claimantsOfKeys, pageOfUnknown, type ClaimantRow, type UnknownRow } from './unknown-queries.js';

/** The courier's figures of a pre-alert; null for a claim. */
type Claimant = ClaimantRow & { announcements: Arrivals | null };

export type UnknownParcel = UnknownRow & { claimants: Claimant[] };

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
    const parcels: { row: UnknownRow; keys: Set<string> }[] = [];
    for (const row of rows) {
      await pauseWhenDue();
      parcels.push({ row, keys: new Set(keysOfStored(row)) });
    }
    const keys = [...new Set(parcels.flatMap((parcel) => [...parcel.keys]))];
    const claimants =
      keys.length === 0 ? [] : await withArrivals(tx, await tx.query(claimantsOfKeys(tx, keys)));
    return {
      rows: parcels.map(({ row, keys: own }) => ({
        ...row,
        claimants: claimants.filter(({ trackingKey }) => own.has(trackingKey)).slice(0, MAX_CLAIMANTS),
      })),
      meta,
    };
  });
}

/** Adds the figures of the couriers that have announced a parcel, each read once. */
async function withArrivals(tx: ReadTx<UserCaller>, claimants: ClaimantRow[]): Promise<Claimant[]> {
  const announced = claimants.filter(({ prealertId }) => prealertId !== null);
  const courierIds = [...new Set(announced.map(({ courierId }) => courierId))];
  const arrivals = courierIds.length === 0 ? [] : await tx.query(arrivalsOf(tx, courierIds));
  const byCourier = new Map(arrivals.map(({ courierId, ...counted }) => [courierId, counted]));
  return claimants.map((claimant) => ({
    ...claimant,
    announcements: claimant.prealertId === null ? null : (byCourier.get(claimant.courierId) ?? null),
  }));
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
    after_receipt: isAfterReceipt(claimant.since, row),
    announcements: claimant.announcements,
    documents: claimant.documents.map(viewDocument),
  })),
});
