import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import { storeCarrier } from '../carrier-tracking/public.js';
import { onePrealert, type PrealertRow } from './list-queries.js';
import { lockedPrealert } from './queries.js';

/**
 * Corrects the carrier of a pre-alert's parcel, or takes the correction back. The pre-alert itself does not change.
 *
 * @throws ApiError prealert_not_found
 */
export function setCarrier(
  ctx: UserContext,
  { prealert_id: id, carrier }: BodyOf<'setPrealertCarrier'>,
): Promise<{ row: PrealertRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    const [[locked], [before]] = await tx.query([lockedPrealert(tx, id), onePrealert(tx, id)]);
    if (!locked || !before) throw new ApiError('prealert_not_found');
    const known = before.carrierTracking;
    const corrected = known?.is_carrier_corrected ? known.carrier : null;
    if (corrected === carrier) return { row: before, isChanged: false };
    await tx.count(storeCarrier(tx, locked.courier_id, keysOf(locked), carrier));
    auditLater(tx, 'prealert.carrier_corrected', id, { before: { carrier: corrected }, after: { carrier } });
    const [row] = await tx.query(onePrealert(tx, id));
    if (!row) throw new Error('The pre-alert was not found in the transaction that locked it.');
    return { row, isChanged: true };
  });
}

/** The keys under which its states are looked up. */
const keysOf = ({
  trackingKey,
  announcedKey,
}: {
  trackingKey: string;
  announcedKey: string | null;
}): string[] => [...new Set([trackingKey, ...(announcedKey === null ? [] : [announcedKey])])];
