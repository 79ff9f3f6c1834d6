import { auditStatement } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { lockParcel } from '../../../platform/db/locks.js';
import { transaction, type Db, type Tx } from '../../../platform/db/transaction.js';
import { newId } from '../../../platform/values/ids.js';
import { trackingKey } from '../../tracking-numbers/public.js';
import { findOpenPrealerts, settledFact } from './open-prealerts.js';
import { recordArrival, type IntakeContext } from './arrival.js';
import { newHouseNumber } from './house-number.js';
import * as queries from './queries.js';
import { toInches, toPounds } from '../shared/measures.js';
import { findReferencedRecords, type ReferencedRecords } from './referenced-records.js';
import { decideOwnership, type OpenPrealert, type Ownership } from './ownership.js';

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
export async function receivePackage(
  db: Db,
  caller: UserCaller,
  requestId: string,
  intake: Intake,
): Promise<Receipt> {
  const measures = readMeasures(intake);
  const trackingNumber = intake.tracking_number.trim();
  const key = trackingKey(trackingNumber);
  return transaction(db, caller, async (tx) => {
    const context = { db, tx, caller, requestId };
    const first = await findEarlierScan(db, tx, caller, key);
    // Checked before the owner in the body is looked up, so that a repeated call succeeds even if that
    // customer no longer exists.
    if (first) return handleRepeatedScan(context, key, first);
    const references = await findReferencedRecords(db, tx, caller, intake);
    const prealerts = await findOpenPrealerts(db, tx, caller, key);
    const ownership = decideOwnership(references, prealerts, trackingNumber);
    const parcel = { ...measures, tracking_number: trackingNumber, tracking_key: key };
    const newPackage = {
      ...parcel,
      ...ownerColumns(ownership),
      ...contentColumns(intake, references, ownership),
    };
    return store(context, newPackage, prealerts, ownership);
  });
}

/**
 * Returns what an earlier scan stored. Looks before and after taking the lock, so that a repeated scan does
 * not wait for a lock it does not need.
 */
async function findEarlierScan(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  key: string,
): Promise<queries.EarlierRow | undefined> {
  const [early] = await tx.query<queries.EarlierRow>(queries.findReceipt(db, caller, key));
  if (early) return early;
  await tx.execute(lockParcel(caller.tenantId, key));
  const [first] = await tx.query<queries.EarlierRow>(queries.findReceipt(db, caller, key));
  return first;
}

/**
 * Handles a later scan. It may be of another parcel with the same number, so staff must review disputed
 * pre-alerts.
 */
async function handleRepeatedScan(
  { db, tx, caller, requestId }: IntakeContext,
  key: string,
  { is_flagged: isFlagged, is_disputed: isDisputed, ...row }: queries.EarlierRow,
): Promise<Receipt> {
  if (!isDisputed) return { row, isDuplicate: true, isFlagged };
  await tx.execute(lockParcel(caller.tenantId, key));
  const flagged = await tx.query<{ id: string }>(queries.flagDisputes(db, caller, row.id));
  const facts = flagged.map(({ id }) => settledFact({ id, status: 'pending' }, 'flagged'));
  if (facts.length > 0) await tx.execute(auditStatement(caller, requestId, facts));
  return { row, isDuplicate: true, isFlagged: true };
}

/**
 * Returns weight and dimensions as exact decimal texts. The contract has already limited the number of
 * decimals.
 */
function readMeasures({ weight, length, width, height }: Intake) {
  return {
    weight_lb: toPounds(weight),
    length_in: length === undefined ? null : toInches(length),
    width_in: width === undefined ? null : toInches(width),
    height_in: height === undefined ? null : toInches(height),
  };
}

const ownerColumns = ({ courierId, customer, matchedPrealert: answers }: Ownership) => ({
  courier_id: courierId,
  user_code: customer?.userCode ?? null,
  first_name: customer?.firstName ?? null,
  last_name: customer?.lastName ?? null,
  prealert_id: answers?.id ?? null,
});

const contentColumns = (
  intake: Intake,
  references: ReferencedRecords,
  { matchedPrealert: answers }: Ownership,
) => ({
  package_type: intake.package_type ?? null,
  shipper: intake.shipper ?? answers?.vendor ?? null,
  description: intake.description ?? answers?.description ?? null,
  carrier_id: references.carrierId,
  warehouse_id: references.warehouseId,
});

const MAX_HOUSE_NUMBERS = 20;

/** Stores the parcel with a free house number and completes the intake. */
async function store(
  context: IntakeContext,
  parcel: Omit<queries.NewPackage, 'id' | 'house_number'>,
  prealerts: OpenPrealert[],
  ownership: Ownership,
): Promise<Receipt> {
  const { db, tx, caller } = context;
  for (let tries = 0; tries < MAX_HOUSE_NUMBERS; tries += 1) {
    const newPackage = { ...parcel, id: newId(), house_number: newHouseNumber() };
    const [row] = await tx.query<queries.ReceiptRow>(queries.insertPackage(caller.tenantId, newPackage));
    if (row) {
      await recordArrival(context, newPackage, row, prealerts, ownership);
      return { row, isDuplicate: false, isFlagged: ownership.prealertStatus === 'flagged' };
    }
    const [first] = await tx.query<queries.EarlierRow>(queries.findReceipt(db, caller, parcel.tracking_key));
    if (first) return handleRepeatedScan(context, parcel.tracking_key, first);
  }
  throw new Error(`No free house number in ${MAX_HOUSE_NUMBERS} tries.`);
}
