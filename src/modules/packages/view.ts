import type { components } from '../../../generated/contract.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { Receipt } from './intake/intake.js';
import type { PackageRow } from './list/queries.js';
import { shownTrackingNumber } from '../tracking-numbers/public.js';
import type { PackagePage } from './packages.js';

export function viewReceipt({ row, isDuplicate, isFlagged }: Receipt): DataOf<'receivePackage'> {
  return {
    package_id: row.id,
    house_number: row.house_number,
    status: row.status,
    courier_id: row.courier_id,
    user_code: row.user_code,
    prealert_id: row.prealert_id,
    matched_by: row.prealert_id ? 'prealert' : row.user_code ? 'user_code' : 'none',
    duplicate: isDuplicate,
    flagged: isFlagged,
  };
}

export function viewPackage(caller: UserCaller, row: PackageRow): components['schemas']['Package'] {
  return {
    package_id: row.id,
    tracking_number: shownTrackingNumber(caller, row),
    house_number: row.house_number,
    user_code: row.user_code,
    first_name: row.first_name,
    last_name: row.last_name,
    weight: Number(row.weight_lb),
    shipper: row.shipper,
    description: row.description,
    entry_date_time: formatDateTime(row.received_at),
    courier_name: row.courier_name,
    carrier_name: row.carrier_name,
    manifest_number: row.manifest_number,
    status: row.status,
  };
}

export function viewMeta({ totals, page, limit }: PackagePage): components['schemas']['PackageListMeta'] {
  return {
    total_count: totals.total_count,
    total_weight: Number(totals.total_weight),
    page,
    limit,
    total_pages: Math.ceil(totals.total_count / limit),
  };
}
