import type { components } from '../../../../generated/contract.js';
import { numberOrNull, recordOf } from '../../../platform/contract/record.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { formatDateTime, withZone } from '../../../platform/values/time.js';
import { shownTrackingNumber } from '../../tracking-numbers/public.js';
import { isMasked, type PackageDetail } from './get-package.js';
import type { ClaimRow } from './queries.js';

type Schemas = components['schemas'];

export const viewPackageDetail = (
  caller: UserCaller,
  { row, claims }: PackageDetail,
): Schemas['PackageDetail'] => ({
  package_id: row.id,
  tracking_number: shownTrackingNumber(caller, row),
  house_number: row.houseNumber,
  status: row.status,
  courier_id: row.courierId,
  courier_code: row.courierCode,
  courier_name: row.courierName,
  user_code: row.userCode,
  first_name: row.firstName,
  last_name: row.lastName,
  customer: row.customer,
  is_claimed: row.isClaimed,
  is_disputed: claims.some(({ status }) => status === 'flagged'),
  claims: claims.map(viewClaim),
  prealert_id: isMasked(caller, row) ? null : row.prealertId,
  reference: isMasked(caller, row) ? null : row.reference,
  weight: Number(row.weightLb),
  received_weight: numberOrNull(row.receivedWeightLb),
  length: numberOrNull(row.lengthIn),
  width: numberOrNull(row.widthIn),
  height: numberOrNull(row.heightIn),
  package_type: row.packageType,
  shipper: row.shipper,
  description: row.description,
  carrier_id: row.carrierId,
  carrier_name: row.carrierName,
  warehouse_id: row.warehouseId,
  warehouse_name: row.warehouseName,
  location: row.location,
  manifest: row.manifest,
  bill: row.bill,
  entry_date_time: formatDateTime(row.receivedAt),
  entry_date_time_utc: withZone(formatDateTime(row.receivedAt)),
  updated_at: formatDateTime(row.updatedAt),
  updated_at_utc: withZone(formatDateTime(row.updatedAt)),
});

const viewClaim = ({ id, ...claim }: ClaimRow): Schemas['PackageClaim'] => ({
  prealert_id: id,
  ...recordOf(claim),
});
