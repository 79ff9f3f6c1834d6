import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { keepUserCode, lockParcels } from '../../../platform/db/locks.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ownOrAll, readScan, type ScanReading } from '../../tracking-numbers/public.js';
import { emitPrealertEvents, selectEventPackages } from '../../webhooks/public.js';
import type { PackageStatus } from '../events/transitions.js';
import { toInches, toPounds, type Measures } from '../shared/measures.js';
import { deferArrival } from './arrival.js';
import {
  assertParcel,
  decideParcel,
  identifyParcel,
  isDecidedByRecords,
  needsRecords,
  recordsOf,
  severalParcels,
  type ScannedParcel,
} from './identify-parcel.js';
import { newHouseNumber } from './house-number.js';
import { lockIdentified } from './lock-identified.js';
import { readOpenPrealerts, settledFact } from './open-prealerts.js';
import { decideOwnership, type OpenPrealert, type Ownership } from './ownership.js';
import {
  findOpenPrealerts,
  flagDisputes,
  lockOpenPrealerts,
  type OpenPrealertRow,
} from './prealert-queries.js';
import * as queries from './queries.js';
import { findReferences, readReferences, type ReferencedRecords } from './referenced-records.js';

export type Intake = BodyOf<'receivePackage'>;
export type Receipt = {
  row: queries.ReceiptRow;
  isDuplicate: boolean;
  /** The owner is uncertain: a pre-alert of the tracking number is flagged. */
  isFlagged: boolean;
};

/**
 * Stores a scanned parcel exactly once: the first scan stores it, later and concurrent scans return the
 * stored package. A later scan flags pre-alerts that name a different owner than the package has.
 * @throws ApiError courier_not_found, carrier_not_found, warehouse_not_found, unknown_user_code,
 * validation_failed
 */
export const receivePackage = (
  ctx: UserContext,
  intake: Intake,
  executeWaitingScans: ExecuteWaitingScans,
): Promise<Receipt> =>
  ctx.write(async (tx) => {
    const { isAwaited, keys, ...receipt } = await receiveParcel(tx, intake);
    if (!isAwaited) return receipt;
    const status = await executeWaitingScans(tx, keys);
    return { ...receipt, row: { ...receipt.row, status: status ?? receipt.row.status } };
  });

/** Executes the scans of stations that have waited for the receipt of a parcel. Returns the status of the package. */
export type ExecuteWaitingScans = (tx: UserTx, keys: string[]) => Promise<PackageStatus | undefined>;

/** `isAwaited`: scans of stations wait for the receipt. `keys`: those of the parcel. */
type NewReceipt = Receipt & { isAwaited: boolean; keys: string[] };

/** The parcel and the records of one scan of a batch, which the batch has read under the locks of the parcel and the user code. */
export type IdentifiedIntake = { parcel: ScannedParcel; references: ReferencedRecords };

/**
 * Receives a parcel in a transaction that the caller has opened. A refused intake has written nothing.
 *
 * @param identified for a caller that has locked and looked up the parcel and what the body refers to
 */
export async function receiveParcel(
  tx: UserTx,
  intake: Intake,
  identified?: IdentifiedIntake,
): Promise<NewReceipt> {
  const measures = readMeasures(intake);
  const lock = identified ? { parcel: identified.parcel } : await lockIntake(tx, intake);
  if ('repeated' in lock) return lock.repeated;
  const { trackingNumber, keys, labelled } = lock.parcel;
  if (labelled !== null) return rescanPackage(tx, labelled, keys);
  const { receipts, announced, found } = identified
    ? await readParcel(tx, keys)
    : await readLocked(tx, intake, lock);
  const first = receiptOf(receipts, keys);
  // Checked before the owner in the body, so that a repeated call succeeds even if that customer no longer
  // exists.
  if (first) return handleRepeatedScan(tx, keys, first);
  const references = identified?.references ?? readReferences(intake, found);
  const prealerts = await readOpenPrealerts(tx, announced, keys, trackingNumber);
  const ownership = decideOwnership(references, prealerts, trackingNumber);
  const parcel = {
    ...measures,
    tracking_number: trackingNumber,
    tracking_key: keys[0],
    ...ownerColumns(ownership),
    ...contentColumns(intake, references, ownership),
  };
  return store(tx, { parcel, keys, prealerts, ownership });
}

/** `reading`: given if the scan has one tracking number. It may still be the number of a manifest or the code of a customer. */
type LockedIntake = { parcel: ScannedParcel; reading?: ScanReading };

/**
 * Defers the locks of a scan with one tracking number, so that they are sent with the statements that read under them. The parcel of
 * other scans is looked up first, and locked at once.
 */
async function lockIntake(tx: UserTx, intake: Intake): Promise<LockedIntake | { repeated: NewReceipt }> {
  const reading = readScan(intake.tracking_number);
  if (isDecidedByRecords(reading)) return lockUnlessRepeated(tx, reading, intake.user_code);
  const parcel = decideParcel(reading, [], 'tracking_number');
  if (intake.user_code !== undefined) tx.later(keepUserCode(tx.tenantId, intake.user_code));
  tx.later(lockParcels(tx.tenantId, parcel.keys));
  return { parcel, reading };
}

/** Locks the parcel of a scan whose meaning depends on stored records, unless the scan repeats an earlier one and changes nothing. */
async function lockUnlessRepeated(
  tx: UserTx,
  reading: ScanReading,
  owner?: string,
): Promise<LockedIntake | { repeated: NewReceipt }> {
  const { keys, labelled } = await identifyParcel(tx, reading, owner);
  const receipts = await tx.query(
    labelled === null ? queries.findReceipts(tx, keys) : queries.findReceiptOfPackage(tx, labelled, keys),
  );
  const early = receiptOf(receipts, keys);
  if (early && !early.isDisputed && !early.isAwaited) return { repeated: repeatedReceipt(keys, early) };
  if (owner !== undefined) tx.later(keepUserCode(tx.tenantId, owner));
  return { parcel: await lockIdentified(tx, () => identifyParcel(tx, reading, owner)) };
}

/** What the decision about a locked parcel needs. `found`: what the body refers to. */
type LockedRecords = {
  receipts: queries.EarlierRow[];
  announced: OpenPrealertRow[];
  found?: queries.FoundRecords | undefined;
};

const selectParcel = (tx: UserTx, keys: string[]) =>
  [lockOpenPrealerts(tx, keys), queries.findReceipts(tx, keys), findOpenPrealerts(tx, keys)] as const;

async function readParcel(tx: UserTx, keys: string[]): Promise<LockedRecords> {
  const [, receipts, announced] = await tx.query(selectParcel(tx, keys));
  return { receipts, announced };
}

/** @throws ApiError validation_failed for the number of a manifest or the code of a customer */
async function readLocked(
  tx: UserTx,
  intake: Intake,
  { parcel: { keys }, reading }: LockedIntake,
): Promise<LockedRecords> {
  const statements = [...selectParcel(tx, keys), findReferences(tx, [intake])] as const;
  if (!reading || !needsRecords(reading)) {
    const [, receipts, announced, [found]] = await tx.query(statements);
    return { receipts, announced, found };
  }
  const [, receipts, announced, [found], known, namesakes] = await tx.query([
    ...statements,
    ...recordsOf(tx, reading),
  ]);
  assertParcel(reading, known, namesakes, intake.user_code);
  return { receipts, announced, found };
}

/**
 * Returns the receipt of a parcel: that of its own key, or the only one.
 *
 * @throws ApiError validation_failed if only other packages have the keys, and several do
 */
function receiptOf(receipts: queries.EarlierRow[], keys: string[]): queries.EarlierRow | undefined {
  const left = ownOrAll(receipts, keys);
  const numbers = [...new Set(left.map(({ trackingKey }) => trackingKey))];
  if (numbers.length > 1) throw severalParcels('tracking_number', numbers);
  return left[0];
}

/** A later scan of a package whose parcel is locked, in a transaction. `keys`: those that the scan names. */
export async function rescanPackage(tx: UserTx, packageId: string, keys: string[]): Promise<NewReceipt> {
  const [row] = await tx.query(queries.findReceiptOfPackage(tx, packageId, keys));
  if (!row) throw new Error('The package of a scan does not exist.');
  return handleRepeatedScan(tx, keys, row);
}

function repeatedReceipt(
  keys: string[],
  { isFlagged, isAwaited, isDisputed: _, ...row }: queries.EarlierRow,
): NewReceipt {
  return { row, isDuplicate: true, isFlagged, isAwaited, keys };
}

/**
 * Handles a later scan of a locked parcel. It may be of another parcel with the same number, so staff must review disputed
 * pre-alerts.
 */
async function handleRepeatedScan(
  tx: UserTx,
  keys: string[],
  earlier: queries.EarlierRow,
): Promise<NewReceipt> {
  const repeated = repeatedReceipt(keys, earlier);
  if (!earlier.isDisputed) return repeated;
  const flagged = await tx.query(flagDisputes(tx, earlier.id, keys));
  const facts = flagged.map(({ id }) => settledFact({ id, status: 'pending' }, 'flagged'));
  if (facts.length > 0) tx.later(audit(tx, ...facts));
  emitPrealertEvents(tx, 'prealert.flagged', flagged);
  return { ...repeated, isFlagged: true };
}

/**
 * Returns weight and dimensions as exact decimal texts. The contract has already limited the number of
 * decimals.
 */
export function readMeasures({ weight, length, width, height }: Intake): Measures {
  return {
    weight_lb: toPounds(weight),
    length_in: length === undefined ? null : toInches(length),
    width_in: width === undefined ? null : toInches(width),
    height_in: height === undefined ? null : toInches(height),
  };
}

const ownerColumns = ({ courierId, customer, matchedPrealert }: Ownership) => ({
  courier_id: courierId,
  user_code: customer?.userCode ?? null,
  first_name: customer?.firstName ?? null,
  last_name: customer?.lastName ?? null,
  prealert_id: matchedPrealert?.id ?? null,
});

const contentColumns = (intake: Intake, references: ReferencedRecords, { matchedPrealert }: Ownership) => ({
  package_type: intake.package_type ?? null,
  shipper: intake.shipper ?? matchedPrealert?.vendor ?? null,
  description: intake.description ?? matchedPrealert?.description ?? null,
  carrier_id: references.carrierId,
  warehouse_id: references.warehouseId,
});

const MAX_HOUSE_NUMBERS = 20;

type NewParcel = {
  parcel: Omit<queries.NewPackage, 'id' | 'house_number'>;
  keys: string[];
  prealerts: OpenPrealert[];
  ownership: Ownership;
};

/** Stores the parcel with a free house number and completes the intake. */
async function store(tx: UserTx, { parcel, keys, prealerts, ownership }: NewParcel): Promise<NewReceipt> {
  for (let tries = 0; tries < MAX_HOUSE_NUMBERS; tries += 1) {
    const newPackage = { ...parcel, id: newId(), house_number: newHouseNumber() };
    const [[row], eventPackages, [waiting]] = await tx.query([
      queries.insertReceivedPackage(tx, newPackage, newId()),
      selectEventPackages(tx, [newPackage.id]),
      queries.findWaitingScan(tx, keys),
    ]);
    if (row) {
      const { prealertStatus } = ownership;
      deferArrival(tx, { newPackage, row, prealerts, prealertStatus, eventPackages });
      const isFlagged = prealertStatus === 'flagged';
      return { row, isDuplicate: false, isFlagged, isAwaited: waiting !== undefined, keys };
    }
    const first = receiptOf(await tx.query(queries.findReceipts(tx, keys)), keys);
    if (first) return handleRepeatedScan(tx, keys, first);
  }
  throw new Error(`No free house number in ${MAX_HOUSE_NUMBERS} tries.`);
}
