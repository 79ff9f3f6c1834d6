import type { UserTx } from '../../../platform/db/scope.js';
import { newId } from '../../../platform/values/ids.js';
import { findNamedRecords } from '../intake/queries.js';
import { readMeasures, type Intake } from '../intake/intake.js';
import {
  appendReceiptEvent,
  findPrealertContents,
  isWarehouseFixed,
  lockedPackage,
  type Editable,
  type WeightChange,
} from './queries.js';
import { applyChanges } from './update.js';

/**
 * Gives a package what another receipt says: measures, carrier, warehouse and contents. A field that no longer has the value of
 * the applied receipt was changed since, and stays. So does the warehouse where the loading gate depends on it: staff without the
 * permission to open the gate send receipts.
 */
export async function replaceReceipt(
  tx: UserTx,
  packageId: string,
  applied: Intake,
  replacement: Intake,
): Promise<void> {
  const [[before], [contents]] = await tx.query([
    lockedPackage(tx, packageId),
    findPrealertContents(tx, packageId),
  ]);
  if (!before) throw new Error('The package of a receipt does not exist.');
  const announced = { vendor: contents?.vendor ?? null, description: contents?.description ?? null };
  const [old, next] = [await columnsOf(tx, applied, announced), await columnsOf(tx, replacement, announced)];
  // Both have the same columns of Editable.
  const columns = Object.keys(next) as (keyof typeof next)[];
  const differing = columns.filter(
    (column) => before[column] === old[column] && next[column] !== old[column],
  );
  const isFixed = await keepsWarehouse(
    tx,
    packageId,
    differing.includes('warehouse_id') && next.warehouse_id,
  );
  const changed = differing.filter((column) => column !== 'warehouse_id' || !isFixed);
  if (changed.length === 0) return;
  await applyChanges(
    tx,
    packageId,
    before,
    Object.fromEntries(changed.map((column) => [column, next[column]])),
  );
  if (changed.includes('weight_lb'))
    tx.later(appendReceiptEvent(tx, packageId, newId(), weightChangeOf(before.weight_lb, next.weight_lb)));
}

/** Couriers see it too. */
const weightChangeOf = (before: string, after: string): WeightChange => ({
  before,
  after,
  remarks: `The weight changed from ${Number(before)} lb to ${Number(after)} lb: an earlier scan of the receipt arrived later.`,
});

async function keepsWarehouse(
  tx: UserTx,
  packageId: string,
  warehouseId: string | false | undefined,
): Promise<boolean> {
  if (!warehouseId) return false;
  const [row] = await tx.query(isWarehouseFixed(tx, packageId, warehouseId));
  return row?.isFixed ?? true;
}

type Announced = { vendor: string | null; description: string | null };

/** The columns that a receipt sets. A carrier that was deleted since counts as none. */
async function columnsOf(tx: UserTx, intake: Intake, announced: Announced) {
  const named = { carrierId: intake.carrier_id, warehouseId: intake.warehouse_id };
  const [ids] = await tx.query(findNamedRecords(tx, [named]));
  return {
    ...readMeasures(intake),
    package_type: intake.package_type ?? null,
    shipper: intake.shipper ?? announced.vendor,
    description: intake.description ?? announced.description,
    carrier_id: ids?.carrierId ?? null,
    ...(ids?.warehouseId ? { warehouse_id: ids.warehouseId } : {}),
  } satisfies Partial<Editable>;
}
