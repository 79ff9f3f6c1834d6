import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { keepUserCode, lockParcels } from '../../../platform/db/locks.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ownOrAll, readScan, type ScanReading } from '../../tracking-numbers/public.js';
import { selectEventPackages } from '../../webhooks/public.js';
import type { PackageStatus } from '../events/transitions.js';
import { toInches, toPounds, type Measures } from '../shared/measures.js';
import { recordArrival } from './arrival.js';
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
import { findOpenPrealerts, flagDisputes, lockOpenPrealerts } from './prealert-queries.js';
import * as queries from './queries.js';
import {
  findNamedCustomers,
  findNamedIds,
  readReferences,
  type ReferencedRecords,
} from './referenced-records.js';

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

/** What a batch has found out about a scan, under the locks of its parcel and its user code. */
export type AdmittedIntake = { parcel: ScannedParcel; references: ReferencedRecords };

/** The same in a transaction. A refused intake has written nothing. */
export async function receiveParcel(
  tx: UserTx,
  intake: Intake,
  admitted?: AdmittedIntake,
): Promise<NewReceipt> {
  const measures = readMeasures(intake);
  const lock = admitted ? { parcel: admitted.parcel } : await lockUnlessRepeated(tx, intake);
  if ('repeated' in lock) return lock.repeated;
  const { trackingNumber, keys, labelled } = lock.parcel;
  if (labelled !== null) return rescanPackage(tx, labelled, keys);
  const [, receipts, announced, [ids], customers] = await tx.query([
    lockOpenPrealerts(tx, keys),
    queries.findReceipts(tx, keys),
    findOpenPrealerts(tx, keys),
    findNamedIds(tx, intake),
    findNamedCustomers(tx, intake),
  ]);
  const first = receiptOf(receipts, keys);
  // Checked before the owner in the body, so that a repeated call succeeds even if that customer no longer
  // exists.
  if (first) return handleRepeatedScan(tx, keys, first);
  const references = admitted?.references ?? readReferences(intake, ids, customers);
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

/**
 * Locks the parcel of a scan, unless the scan repeats an earlier one and changes nothing. It looks before it takes the lock, so that
 * a repeated scan does not wait for a lock that it does not need.
 */
async function lockUnlessRepeated(
  tx: UserTx,
  intake: Intake,
): Promise<{ parcel: ScannedParcel } | { repeated: NewReceipt }> {
  const reading = readScan(intake.tracking_number);
  const { parcel, early } = isDecidedByRecords(reading)
    ? await findIdentified(tx, reading, intake.user_code)
    : await findSingle(tx, reading, intake.user_code);
  const { keys } = parcel;
  if (early && !early.isDisputed && !early.isAwaited) return { repeated: repeatedReceipt(keys, early) };
  if (intake.user_code !== undefined) tx.later(keepUserCode(tx.tenantId, intake.user_code));
  if (isDecidedByRecords(reading))
    return { parcel: await lockIdentified(tx, () => identifyParcel(tx, reading, intake.user_code)) };
  tx.later(lockParcels(tx.tenantId, keys));
  return { parcel };
}

type Found = { parcel: ScannedParcel; early: queries.EarlierRow | undefined };

/** Finds the parcel of a scan that records decide, and its receipt. */
async function findIdentified(tx: UserTx, reading: ScanReading, owner?: string): Promise<Found> {
  const parcel = await identifyParcel(tx, reading, owner);
  const { keys, labelled } = parcel;
  const receipts = await tx.query(
    labelled === null ? queries.findReceipts(tx, keys) : queries.findReceiptOfPackage(tx, labelled, keys),
  );
  return { parcel, early: receiptOf(receipts, keys) };
}

/** Finds the receipt of a scan with one tracking number. One round trip, because most scans are of this kind. */
async function findSingle(tx: UserTx, reading: ScanReading, owner?: string): Promise<Found> {
  const parcel = decideParcel(reading, [], 'tracking_number');
  const { keys } = parcel;
  const found = queries.findReceipts(tx, keys);
  if (!needsRecords(reading)) return { parcel, early: receiptOf(await tx.query(found), keys) };
  const [receipts, known, namesakes] = await tx.query([found, ...recordsOf(tx, reading)]);
  assertParcel(reading, known, namesakes, owner);
  return { parcel, early: receiptOf(receipts, keys) };
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
      await recordArrival(tx, { newPackage, row, keys, prealerts, prealertStatus, eventPackages });
      const isFlagged = prealertStatus === 'flagged';
      return { row, isDuplicate: false, isFlagged, isAwaited: waiting !== undefined, keys };
    }
    const first = receiptOf(await tx.query(queries.findReceipts(tx, keys)), keys);
    if (first) return handleRepeatedScan(tx, keys, first);
  }
  throw new Error(`No free house number in ${MAX_HOUSE_NUMBERS} tries.`);
}
