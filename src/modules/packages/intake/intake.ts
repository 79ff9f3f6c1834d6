import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { lockParcels } from '../../../platform/db/locks.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { readScan } from '../../tracking-numbers/public.js';
import { selectEventPackages } from '../../webhooks/public.js';
import type { PackageStatus } from '../events/transitions.js';
import { toInches, toPounds, type Measures } from '../shared/measures.js';
import { recordArrival } from './arrival.js';
import { identifyParcel, type ScannedParcel } from './identify-parcel.js';
import { newHouseNumber } from './house-number.js';
import { settledFact, toOpenPrealert } from './open-prealerts.js';
import { decideOwnership, type OpenPrealert, type Ownership } from './ownership.js';
import { flagDisputes, lockedOpenPrealerts } from './prealert-queries.js';
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

/** `isAwaited`: scans of stations have waited for the receipt. `keys`: those of the parcel. */
type NewReceipt = Receipt & { isAwaited: boolean; keys: string[] };

/**
 * The same in a transaction. A refused intake has written nothing.
 *
 * @param identified the parcel, if the caller has identified it
 */
export async function receiveParcel(
  tx: UserTx,
  intake: Intake,
  identified?: ScannedParcel,
): Promise<NewReceipt> {
  const measures = readMeasures(intake);
  const scanned = identified ?? (await identifyParcel(tx, readScan(intake.tracking_number)));
  const { trackingNumber, keys, labelled } = scanned;
  if (labelled !== null) return rescanPackage(tx, labelled, keys);
  // Looks before and after taking the lock, so that a repeated scan does not wait for a lock it does not need.
  const [early] = await tx.query(queries.findReceipt(tx, keys));
  if (early) return handleRepeatedScan(tx, keys, early);
  tx.later(lockParcels(tx.tenantId, keys));
  const [[first], [ids], customers, announced] = await tx.query([
    queries.findReceipt(tx, keys),
    findNamedIds(tx, intake),
    findNamedCustomers(tx, intake),
    lockedOpenPrealerts(tx, keys),
  ]);
  // Checked before the owner in the body, so that a repeated call succeeds even if that customer no longer
  // exists.
  if (first) return handleRepeatedScan(tx, keys, first);
  const references = readReferences(intake, ids, customers);
  const prealerts = announced.map(toOpenPrealert);
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

/** A scan of the house number of a package. */
async function rescanPackage(tx: UserTx, packageId: string, keys: string[]): Promise<NewReceipt> {
  const [row] = await tx.query(queries.findReceiptOfPackage(tx, packageId, keys));
  if (!row) throw new Error('The package of a house number does not exist.');
  return handleRepeatedScan(tx, keys, row);
}

/** A later scan of a parcel that was received, in a transaction. */
export async function rescanParcel(tx: UserTx, keys: string[]): Promise<void> {
  const [row] = await tx.query(queries.findReceipt(tx, keys));
  if (row) await handleRepeatedScan(tx, keys, row);
}

/**
 * Handles a later scan. It may be of another parcel with the same number, so staff must review disputed
 * pre-alerts.
 */
async function handleRepeatedScan(
  tx: UserTx,
  keys: string[],
  { isFlagged, isDisputed, ...row }: queries.EarlierRow,
): Promise<NewReceipt> {
  const repeated = { row, isDuplicate: true, isAwaited: false, keys };
  if (!isDisputed) return { ...repeated, isFlagged };
  tx.later(lockParcels(tx.tenantId, keys));
  const flagged = await tx.query(flagDisputes(tx, row.id, keys));
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
    const [first] = await tx.query(queries.findReceipt(tx, keys));
    if (first) return handleRepeatedScan(tx, keys, first);
  }
  throw new Error(`No free house number in ${MAX_HOUSE_NUMBERS} tries.`);
}
