import type { components } from '../../../generated/contract.js';
import type { DataOf } from '../../platform/contract/types.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { formatDateTime } from '../../platform/values/time.js';
import { shownTrackingNumber, type Candidate } from '../tracking-numbers/public.js';
import type { CustomerRow, ManifestRow, PrealertRow } from './queries.js';
import type { MatchedPackage } from './find-matches.js';
import type { ScanResolution } from './resolve-scan.js';
import type { ParcelOwner } from './scan-meaning.js';

type Schemas = components['schemas'];

export function viewResolution(
  caller: UserCaller,
  { text, numbers, candidates, kind, owner, matches, next }: ScanResolution,
): DataOf<'resolveScan'> {
  return {
    text,
    kind,
    numbers: numbers.map((number) => number.text),
    candidates: candidates.map(viewCandidate),
    owner: owner && viewOwner(owner),
    matches: {
      packages: matches.packages.map((row) => viewPackage(caller, row)),
      prealerts: matches.prealerts.map(viewPrealert),
      manifests: matches.manifests.map(viewManifest),
      customers: matches.customers.map(viewCustomer),
    },
    next,
  };
}

const viewOwner = (owner: ParcelOwner): NonNullable<DataOf<'resolveScan'>['owner']> => ({
  courier_id: owner.courierId,
  courier_name: owner.courierName,
  user_code: owner.userCode,
  first_name: owner.firstName,
  last_name: owner.lastName,
});

const viewCandidate = (candidate: Candidate): Schemas['ScanCandidate'] => ({
  carrier: candidate.carrier,
  carrier_name: candidate.carrierName,
  format: candidate.format,
  format_name: candidate.formatName,
  tracking_number: candidate.trackingNumber,
  check: candidate.check,
  explanation: candidate.explanation,
});

const viewPackage = (caller: UserCaller, row: MatchedPackage): Schemas['ScannedPackage'] => ({
  package_id: row.id,
  matched_by: row.matchedBy,
  tracking_number: shownTrackingNumber(caller, row),
  house_number: row.houseNumber,
  status: row.status,
  courier_id: row.courierId,
  courier_name: row.courierName,
  user_code: row.userCode,
  first_name: row.firstName,
  last_name: row.lastName,
  manifest_id: row.manifestId,
  manifest_number: row.manifestNumber,
  manifest_status: row.manifestStatus,
  entry_date_time: formatDateTime(row.receivedAt),
});

const viewPrealert = (row: PrealertRow): Schemas['ScannedPrealert'] => ({
  prealert_id: row.id,
  tracking_number: row.trackingNumber,
  courier_id: row.courierId,
  courier_name: row.courierName,
  user_code: row.userCode,
  first_name: row.firstName,
  last_name: row.lastName,
  vendor: row.vendor,
  status: row.status,
  created_at: formatDateTime(row.createdAt),
});

const viewManifest = (row: ManifestRow): Schemas['ScannedManifest'] => ({
  manifest_id: row.id,
  manifest_number: row.manifestNumber,
  status: row.status,
});

const viewCustomer = (row: CustomerRow): Schemas['ScannedCustomer'] => ({
  courier_customer_id: row.id,
  courier_id: row.courierId,
  courier_name: row.courierName,
  user_code: row.userCode,
  first_name: row.firstName,
  last_name: row.lastName,
  is_active: row.isActive ? 1 : 0,
});
