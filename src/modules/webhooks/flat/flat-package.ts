import type { components } from '../../../../generated/contract.js';
import { type FlatRow, problemOfStatus, STATUS_NUMBERS } from './flat-queries.js';

type Schemas = components['schemas'];

const VOIDED = 'The receipt was a mistake, and was voided. The parcel is not at the warehouse.';
const FLAGGED = 'The owner is in doubt. The warehouse reviews the pre-alert of this number.';

/**
 * Returns a package as the flat object that couriers' systems in the region accept. All 38 fields are present.
 * @param token the courier's token; empty for none
 */
export function viewFlatPackage(row: FlatRow, token: string): Schemas['FlatPackage'] {
  const { isVoided = false, isFlagged, status } = row;
  const problems = [isVoided && VOIDED, isFlagged && FLAGGED, problemOfStatus(status)].filter(Boolean);
  return {
    PackageID: row.packageId,
    CourierID: row.courierId,
    ManifestID: row.manifestId ?? '',
    TrackingNumber: row.trackingNumber,
    ControlNumber: row.houseNumber,
    FirstName: row.firstName ?? '',
    LastName: row.lastName ?? '',
    UserCode: row.userCode ?? '',
    Weight: Number(row.weight),
    Shipper: row.shipper ?? '',
    EntryDate: `${row.receivedAt.slice(0, 'YYYY-MM-DD'.length)}T00:00:00+00:00`,
    // The format has seven decimals of a second.
    EntryDateTime: `${row.receivedAt}0000+00:00`,
    Branch: row.branch ?? '',
    Claimed: row.isClaimed,
    APIToken: token,
    ManifestCode: row.manifestNumber ?? '',
    Description: row.description ?? '',
    Unknown: row.userCode === null,
    Length: Number(row.length),
    Width: Number(row.width),
    Height: Number(row.height),
    Discrepancy: problems.length > 0,
    DiscrepancyDescription: problems.join(' '),
    PackageStatus: STATUS_NUMBERS[row.numberedStatus],
    ...UNKNOWN_FIELDS,
  };
}

/** The fields that Crossdock has no value for. */
const UNKNOWN_FIELDS = {
  CollectionID: '',
  CollectionCode: '',
  EntryStaff: '',
  HSCode: '',
  OriginalHouseNumber: '',
  ServiceTypeID: '',
  HazmatCodeID: '',
  ColoadIndicator: '',
  PackagePayments: '',
  ShowControls: false,
  AIProcessed: false,
  Coloaded: false,
  Cubes: 0,
  Pieces: 1,
} satisfies Partial<Schemas['FlatPackage']>;

/** Returns a package whose receipt was voided, as the event has it: it is not stored any more. */
export const voidedRow = (
  courierId: string,
  eventId: string,
  { package_id: packageId, entry_date_time: entry, weight, ...data }: Schemas['EventPackage'],
): FlatRow => ({
  eventId,
  packageId,
  courierId,
  manifestId: null,
  manifestNumber: null,
  trackingNumber: data.tracking_number,
  houseNumber: data.house_number,
  userCode: data.user_code,
  firstName: data.first_name,
  lastName: data.last_name,
  branch: null,
  weight: String(weight),
  length: textOf(data.length),
  width: textOf(data.width),
  height: textOf(data.height),
  shipper: data.shipper,
  description: data.description,
  receivedAt: `${entry.replace(' ', 'T')}.000`,
  isClaimed: false,
  isFlagged: false,
  isVoided: true,
  status: data.status,
  numberedStatus: 'received',
});

const textOf = (inches: number | null): string | null => (inches === null ? null : String(inches));

/** Returns the package of a test. It has no customer, so that the courier's system notifies nobody. */
export const testRow = (courierId: string, eventId: string, sentAt: Date): FlatRow => ({
  eventId,
  packageId: eventId,
  courierId,
  manifestId: null,
  manifestNumber: null,
  trackingNumber: 'TEST',
  houseNumber: 'TEST',
  userCode: null,
  firstName: null,
  lastName: null,
  branch: null,
  weight: '1',
  length: null,
  width: null,
  height: null,
  shipper: 'Crossdock',
  description: 'A test from Crossdock. It is not a package.',
  receivedAt: sentAt.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS.mmm'.length),
  isClaimed: false,
  isFlagged: false,
  status: 'received',
  numberedStatus: 'received',
});
