import type { components } from '../../../generated/contract.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime, withZone } from '../../platform/values/time.js';
import type { Receipt } from './intake/intake.js';
import type { PackageRow } from './list/queries.js';
import { shownTrackingNumber } from '../tracking-numbers/public.js';
import type { PackagePage } from './list/find-packages.js';

export function viewReceipt({ row, isDuplicate, isFlagged }: Receipt): DataOf<'receivePackage'> {
  return {
    package_id: row.id,
    house_number: row.houseNumber,
    status: row.status,
    courier_id: row.courierId,
    user_code: row.userCode,
    prealert_id: row.prealertId,
    matched_by: row.prealertId ? 'prealert' : row.userCode ? 'user_code' : 'none',
    duplicate: isDuplicate,
    flagged: isFlagged,
  };
}

export function viewPackage(caller: UserCaller, row: PackageRow): components['schemas']['PackageRecord'] {
  const entryDateTime = formatDateTime(row.receivedAt);
  const isHidden = caller.courierId !== null && row.userCode === null;
  return {
    package_id: row.id,
    tracking_number: shownTrackingNumber(caller, row),
    house_number: row.houseNumber,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    weight: Number(row.weightLb),
    shipper: row.shipper,
    description: row.description,
    entry_date_time: entryDateTime,
    entry_date_time_utc: withZone(entryDateTime),
    // They would show the number that is masked.
    prealert_id: isHidden ? null : row.prealertId,
    reference: isHidden ? null : row.reference,
    courier_name: row.courierName,
    carrier_name: row.carrierName,
    manifest_number: row.manifestNumber,
    status: row.status,
  };
}

export function viewMeta({
  totals,
  isExact,
  lastPage,
  page,
  limit,
}: PackagePage): components['schemas']['PackageListMeta'] {
  return {
    total_count: totals.totalCount,
    total_weight: Number(totals.totalWeight),
    total_is_exact: isExact,
    page,
    limit,
    total_pages: lastPage,
  };
}
