import { createHash } from 'node:crypto';
import type { JsonBodyOf } from '../../../../platform/contract/types.js';
import { isCalendarDate } from '../../../../platform/contract/validator.js';
import { ApiError, fieldError, type FieldError } from '../../../../platform/errors/errors.js';
import {
  decideParcel,
  whyNoParcel,
  type Intake,
  type KnownRow,
  type Namesake,
} from '../../../packages/public.js';
import { readScan, type ScanReading } from '../../../tracking-numbers/public.js';

export type SentScan = JsonBodyOf<'sendScans'>['scans'][number];
type SentReceive = Extract<SentScan, { kind: 'receive' }>;

/** The fields of a kind, without those that all scans have. */
export type Details = Omit<Partial<SentReceive>, 'scan_id' | 'scanned_at' | 'kind' | 'scan'> & {
  manifest_id?: string;
  manifest_number?: string;
  location?: string;
  remarks?: string;
};

/** A scan that is acceptable by itself. */
export type SentItem = {
  id: string;
  kind: SentScan['kind'];
  /** ISO 8601, in UTC with milliseconds. */
  scannedAt: string;
  /** The text as the scanner sent it. */
  scan: string;
  reading: ScanReading;
  details: Details;
  contentHash: string;
};

/** A scan whose parcel is known. */
export type ReadScan = SentItem & {
  /** The text without what the scanner added. */
  number: string;
  /** The keys of the parcel. */
  keys: string[];
  /** Whether a house number was scanned. */
  isLabel: boolean;
};

export type Refusal = {
  reason:
    | 'invalid'
    | 'not_a_parcel'
    | 'id_reused'
    | 'receipt_voided'
    | 'clock_ahead'
    | 'too_old'
    | 'too_many_scans';
  message: string;
  errors: FieldError[];
};

const KIND_FIELDS = {
  receive: [
    ...(['weight', 'length', 'width', 'height', 'package_type', 'shipper', 'description'] as const),
    ...(['carrier_id', 'courier_id', 'user_code', 'warehouse_id'] as const),
  ],
  load: ['manifest_id', 'manifest_number'],
  unload: ['manifest_id', 'manifest_number'],
  locate: ['location'],
  hold: ['remarks'],
  deliver: ['remarks'],
} as const satisfies Record<SentScan['kind'], readonly (keyof Details)[]>;

/** Reads a scan that the contract accepts. @throws ApiError validation_failed */
export function readSentScan(sent: SentScan): SentItem {
  const scannedAt = toIsoTime(sent.scanned_at);
  const details = pickDetails(sent);
  assertOneManifest(sent.kind, details);
  const { scan_id: id, kind, scan } = sent;
  const contentHash = createHash('sha256')
    .update(JSON.stringify([kind, scannedAt, scan, details]))
    .digest('hex');
  return { id, kind, scannedAt, scan, reading: readScan(scan), details, contentHash };
}

/** The records that the numbers of a batch's scans have. */
export type ScannedRecords = {
  known: KnownRow[];
  namesakes: Namesake[];
  /** The numbers that the batch itself receives. */
  expected: KnownRow[];
};

/**
 * Returns the scan with its parcel, by the rule of intake.
 *
 * @param storedKey the key of a scan that is stored already: it stays with its parcel
 */
export function identifyScan(
  item: SentItem,
  { known, namesakes, expected }: ScannedRecords,
  storedKey: string | undefined,
): ReadScan | RefusedScan {
  if (storedKey !== undefined)
    return { ...item, number: item.reading.text, keys: [storedKey], isLabel: false };
  const problem = whyNoParcel(item.reading, known, namesakes, item.details.user_code);
  if (problem) return { scanId: item.id, refusal: notAParcel(fieldError('scan', ...problem)) };
  try {
    const { trackingNumber, keys, labelled } = decideParcel(item.reading, [...known, ...expected], 'scan');
    return { ...item, number: trackingNumber, keys, isLabel: labelled !== null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { scanId: item.id, refusal: toRefusal(error) };
  }
}

/** Picks the fields of the kind in a fixed order: unknown keys are ignored, and the order of keys is no difference. */
function pickDetails(sent: SentScan): Details {
  // The contract declares exactly these fields for the kind.
  const fields = sent as Details;
  const names: readonly (keyof Details)[] = KIND_FIELDS[sent.kind];
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

function assertOneManifest(
  kind: SentScan['kind'],
  { manifest_id: id, manifest_number: number }: Details,
): void {
  if (kind !== 'load' && kind !== 'unload') return;
  if (id === undefined && number === undefined) throw invalid('manifest_id', 'manifest_required');
  if (id !== undefined && number !== undefined)
    throw new ApiError('validation_failed', {
      errors: [fieldError('manifest_number', 'conflict', { other: 'manifest_id' })],
    });
}

function toIsoTime(text: string): string {
  const isMoment =
    isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11, 19));
  if (!isMoment) throw invalid('scanned_at', 'invalid_date_time');
  return `${text.slice(0, 10)}T${text.slice(11).padEnd(9, '.').padEnd(12, '0')}Z`;
}

const invalid = (field: string, problem: 'manifest_required' | 'invalid_date_time') =>
  new ApiError('validation_failed', { errors: [fieldError(field, problem)] });

const HOUR_MS = 3_600_000;
const MAX_AHEAD_MS = 24 * HOUR_MS;
const MAX_AGE_MS = 90 * 24 * HOUR_MS;

/** Refuses a scan whose clock cannot be right. */
export function refuseTime(scannedAt: string, now: Date): Refusal | undefined {
  const aheadMs = Date.parse(scannedAt) - now.getTime();
  if (aheadMs > MAX_AHEAD_MS)
    return {
      reason: 'clock_ahead',
      message: 'The scan is more than 24 hours in the future. Set the clock of the station, and scan again.',
      errors: [],
    };
  if (aheadMs < -MAX_AGE_MS)
    return {
      reason: 'too_old',
      message:
        'The scan is older than 90 days. If the clock of the station is wrong, set it. Then scan again.',
      errors: [],
    };
  return undefined;
}

export const ID_REUSED: Refusal = {
  reason: 'id_reused',
  message: 'This scan_id belongs to a scan with another content. Send this scan with a new scan_id.',
  errors: [],
};

export const RECEIPT_VOIDED: Refusal = {
  reason: 'receipt_voided',
  message:
    'This scan was stored, and then the receipt of its parcel was voided. If the parcel is here, scan it again.',
  errors: [],
};

const notAParcel = (error: FieldError): Refusal => ({
  reason: 'not_a_parcel',
  message: error.message,
  errors: [error],
});

/** Words a failure of one scan. */
export const toRefusal = ({ message, detail }: ApiError, field = 'body'): Refusal => ({
  reason: 'invalid',
  message,
  errors: detail.errors ?? [fieldError(field, 'record_missing')],
});

/** The scan as it was sent, and why it is refused. */
export type RefusedScan = { scanId: string | null; refusal: Refusal };

export const isAccepted = <Scan extends SentItem>(scan: Scan | RefusedScan): scan is Scan => 'id' in scan;

/** The body of ReceivePackage that a receive scan stands for. The contract requires its weight. */
export const toIntake = ({ scan, details }: Pick<ReadScan, 'scan' | 'details'>): Intake => ({
  ...details,
  tracking_number: scan,
  weight: details.weight ?? 0,
});
