import { ownRows } from '../../../platform/db/filters.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import { invalidFieldError, type ApiError, type FieldProblem } from '../../../platform/errors/errors.js';
import type { UserScope, UserTx } from '../../../platform/db/scope.js';
import {
  keysOfStored,
  notOneNumber,
  ownOrAll,
  type ScannedNumber,
  type ScanReading,
  type StoredNumber,
} from '../../tracking-numbers/public.js';
import { isHouseNumber } from './house-number.js';
import { namesakeTexts, selectNamesakes, wantsNamesakes, type Namesake } from './namesakes.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', {
  trackingKey: 'trackingKey',
  trackingNumber: 'trackingNumber',
  packageId: 'id',
  houseNumber: 'houseNumber',
});

/** The parcel that a scan means. */
export type ScannedParcel = {
  /** The number as it is stored. */
  trackingNumber: string;
  /** The keys of the parcel, the one that its rows store first. */
  keys: [string, ...string[]];
  /** The package whose house number was scanned; null if a tracking number was scanned. */
  labelled: string | null;
};

/** A package or a pre-alert that has one of the scanned numbers. Only packages have the number itself. */
export type KnownRow = StoredNumber & { packageId: string | null; houseNumber: string | null };

/** Returns whether records must be looked up for a scan: they decide what it means, or it may be no number of a parcel. */
export const needsRecords = (reading: ScanReading): boolean =>
  isDecidedByRecords(reading) || wantsNamesakes(reading);

/** Returns whether records decide which parcel a scan means: it has several numbers, or a house number. */
export const isDecidedByRecords = ({ numbers }: ScanReading): boolean =>
  numbers.length > 1 || numbers.some(({ folded }) => isHouseNumber(folded));

/** Selects the packages and pre-alerts that have the numbers of scans. */
export function selectKnown(ctx: UserScope, readings: ScanReading[]): Sql<KnownRow> {
  const numbers = readings.flatMap((reading) => reading.numbers);
  const keys = numbers.flatMap((number) => number.keys);
  const houseNumbers = numbers.map(({ folded }) => folded).filter(isHouseNumber);
  return once`select ${PACKAGE}
    from packages p
    where ${ownRows(ctx, 'p')}
      and (p.tracking_key = any(${keys}::text[]) or p.house_number = any(${houseNumbers}::text[]))
    union all
    select distinct a.tracking_key, null, null::uuid, null from prealerts a
    where ${ownRows(ctx, 'a')} and a.tracking_key = any(${keys}::text[])`;
}

/**
 * Returns the parcel that a scan means (decision 0072). The rules:
 * - A house number means its package, and is never a new parcel.
 * - Of several numbers, the one that a record has decides, unless another can be the number of a parcel that is not known yet.
 * - It stays open which parcel is meant if several packages fit a number and none has the number itself. Example: the scanned 12 digits
 *   are the end of the numbers of two packages, which have 14 digits each.
 *
 * @throws ApiError validation_failed if it stays open, if the scan has no number, or if it has several and not exactly one is known
 */
export function decideParcel(reading: ScanReading, known: KnownRow[], field: string): ScannedParcel {
  const parcel = chooseParcel(reading, known);
  if (parcel) return parcel;
  const several = reading.numbers.map((number) => rivalKeys(number, known)).find((keys) => keys.length > 0);
  throw several ? severalParcels(field, several) : notOneNumber(reading, field);
}

/** The error for a scan that fits several packages. @param numbers of the packages */
export const severalParcels = (field: string, numbers: string[]): ApiError =>
  invalidFieldError(field, 'several_parcels', { numbers: numbers.join(', ') });

/** Returns the keys of the packages that a number fits, if there are several and none has the number itself. */
function rivalKeys({ keys }: ScannedNumber, known: KnownRow[]): string[] {
  const found = known.filter((row) => row.packageId !== null && keys.includes(row.trackingKey));
  const left = [...new Set(ownOrAll(found, keys).map(({ trackingKey }) => trackingKey))];
  return left.length > 1 ? left : [];
}

/** Returns the parcel that `decideParcel` returns, but undefined where that one throws. */
export function chooseParcel(reading: ScanReading, known: KnownRow[]): ScannedParcel | undefined {
  if (reading.numbers.some((number) => rivalKeys(number, known).length > 0)) return undefined;
  const parcels = new Map<string, ScannedParcel>();
  const [own, unknown]: [ScannedNumber[], ScannedNumber[]] = [[], []];
  for (const number of reading.numbers) {
    const parcel = knownParcel(number, known);
    (parcel ? own : unknown).push(number);
    if (parcel && !parcels.has(parcel.keys[0])) parcels.set(parcel.keys[0], parcel);
  }
  const [found, other] = parcels.values();
  if (found && !other) return unknown.some((number) => isRival(number, own)) ? undefined : found;
  const [number, another] = reading.numbers;
  return number && !another ? toParcel(number) : undefined;
}

/**
 * Returns whether an unknown number of a scan can be that of another parcel. If the known one decided, a number that is equal on
 * many labels would be the parcel of whoever announces it.
 */
function isRival({ candidates, places }: ScannedNumber, known: ScannedNumber[]): boolean {
  // A number and the elements that it is joined from are two readings of the same symbol.
  if (known.some((number) => number.places.some((place) => places.includes(place)))) return false;
  return isVerified({ candidates }) || (candidates.length > 0 && !known.some(isVerified));
}

const isVerified = ({ candidates }: Pick<ScannedNumber, 'candidates'>): boolean =>
  candidates.some(({ check }) => check === 'valid');

const toParcel = ({ text, keys, key }: ScannedNumber): ScannedParcel => ({
  trackingNumber: text,
  keys: [key, ...keys.slice(1)],
  labelled: null,
});

function knownParcel(number: ScannedNumber, known: KnownRow[]): ScannedParcel | undefined {
  const labelled = known.find(({ houseNumber }) => houseNumber === number.folded);
  if (labelled)
    return { trackingNumber: number.text, keys: keysOfStored(labelled), labelled: labelled.packageId };
  return known.some(({ trackingKey }) => number.keys.includes(trackingKey)) ? toParcel(number) : undefined;
}

/**
 * Returns why a scan is no parcel: it is the number of a manifest or the code of a customer, as ResolveScan reports it. A package that has
 * the number decides before, and for a code also a pre-alert.
 *
 * @param known the stored records of the scan, not those that the same batch receives
 * @param owner the user code that staff send with the scan. A customer can have a code like a parcel's number, so staff who name
 * another owner tell that the scan is a parcel.
 */
export function whyNoParcel(
  reading: ScanReading,
  known: KnownRow[],
  namesakes: Namesake[],
  owner?: string,
): FieldProblem | undefined {
  const [number] = reading.numbers;
  const texts = namesakeTexts(reading);
  const found = namesakes.filter(({ text }) => texts.includes(text));
  if (!number || found.length === 0) return undefined;
  const { text, keys, folded } = number;
  const records = known.filter(
    ({ trackingKey, houseNumber }) => keys.includes(trackingKey) || houseNumber === folded,
  );
  if (records.some(({ packageId }) => packageId !== null)) return undefined;
  if (found.some(({ kind }) => kind === 'manifest')) return ['number_of_manifest', { text }];
  const isParcelOfOther = owner !== undefined && !texts.includes(owner);
  return records.length > 0 || isParcelOfOther ? undefined : ['code_of_customer', { text }];
}

/** Identifies the parcel of one scan. @throws ApiError validation_failed */
export async function identifyParcel(
  tx: UserTx,
  reading: ScanReading,
  owner?: string,
): Promise<ScannedParcel> {
  const [known, namesakes] = await tx.query(recordsOf(tx, reading));
  assertParcel(reading, known, namesakes, owner);
  return decideParcel(reading, known, 'tracking_number');
}

/** The records that `identifyParcel` needs for one scan. */
export const recordsOf = (ctx: UserScope, reading: ScanReading) =>
  [selectKnown(ctx, [reading]), selectNamesakes(ctx, [reading])] as const;

/** @throws ApiError validation_failed for the number of a manifest or the code of a customer */
export function assertParcel(
  reading: ScanReading,
  known: KnownRow[],
  namesakes: Namesake[],
  owner?: string,
): void {
  const problem = whyNoParcel(reading, known, namesakes, owner);
  if (problem) throw invalidFieldError('tracking_number', ...problem);
}
