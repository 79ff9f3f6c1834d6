import type { UserScope } from '../../../../platform/db/scope.js';
import type { RowsOf } from '../../../../platform/db/statements.js';
import * as queries from './queries.js';

/** The most scans that a parcel stores. Parcels have about five, and each further scan folds all of them (decision 0073). */
export const MAX_SCANS = 500;

/** The scans that are folded at a time, so that a batch of full parcels fits into memory. */
export const SCANS_PER_PART = 4_000;

/** The changes of the status that are folded. The status before them counts from the beginning. */
export const MAX_EVENTS = 500;

/** The statements that read what is stored of parcels. They lock the packages before they read the events of the packages. */
export const selectStored = (ctx: UserScope, keys: readonly string[]) =>
  [
    queries.lockedPackages(ctx, keys),
    // One more, to detect that there are more.
    queries.scansOfParcels(ctx, keys, MAX_SCANS + 1),
    queries.statusEvents(ctx, keys, MAX_EVENTS),
    queries.positionsOfParcels(ctx, keys),
  ] as const;

export type StoredRows = RowsOf<ReturnType<typeof selectStored>>;

/** The statements that tell only how much is stored of parcels. */
export const countStored = (ctx: UserScope, keys: readonly string[]) =>
  [queries.packageKeys(ctx, keys), queries.countScans(ctx, keys, MAX_SCANS)] as const;

export type StoredCounts = RowsOf<ReturnType<typeof countStored>>;
