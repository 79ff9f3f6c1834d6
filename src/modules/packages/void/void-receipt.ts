import { audit, factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { BOUND_KINDS } from '../../../../generated/bounds.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { emitEventsOfPackages, emitPrealertEvents, selectEventPackages } from '../../webhooks/public.js';
import { lockLooked } from '../intake/lock-identified.js';
import { deleteParcelFlags } from '../intake/prealert-queries.js';
import { findKeys, keysOfPackage } from '../update/lock-package.js';
import { ownKeys, reopenedFact } from '../update/move-prealerts.js';
import { openWithKey, reopenFlagged, reopenPrealerts, restoreKeys } from '../update/queries.js';
import * as queries from './queries.js';
import type { ReceiptRow, UseRow } from './queries.js';

export type VoidedReceipt = { trackingNumber: string; reopened: number };

/**
 * Takes back the receipt of a parcel that was received by mistake: deletes the package with its history, as if it had not been received.
 * Its pre-alerts, and those that a scan of it has flagged, become pending. The audit trail keeps what the package was, and its courier gets
 * an event (decision 0138).
 * @throws ApiError package_not_found, receipt_not_voidable, permission_denied, overloaded
 */
export async function voidReceipt(
  ctx: UserContext,
  { package_id: id, reason }: BodyOf<'voidReceipt'>,
): Promise<VoidedReceipt> {
  const { history, ...voided } = await ctx.write(async (tx) => {
    const { row, keys } = await lockLooked(tx, {
      look: async () => ({ keys: await findKeys(tx, id, []) }),
      identify: () => selectLocked(tx, id),
    });
    const [[use], packages] = await tx.query([queries.usesOfPackage(tx, id), selectEventPackages(tx, [id])]);
    if (!use) throw new Error('A locked package does not exist.');
    assertVoidable(ctx.caller, row, use);
    emitEventsOfPackages(tx, 'package.updated', [{ packageId: id, voidedAt: use.now }], packages);
    const facts = await reopenAll(tx, row, keys);
    tx.later(deleteParcelFlags(tx, [row.tracking_key]));
    tx.later(queries.voidScans(tx, row.tracking_key));
    tx.later(queries.deletePosition(tx, row.tracking_key));
    tx.later(queries.deleteLabelJobs(tx, id));
    tx.later(queries.deletePackage(tx, id));
    tx.later(audit(tx, factOf('package.voided', id, { before: row, remarks: reason }), ...facts));
    return { trackingNumber: row.tracking_number, reopened: facts.length, history: use.history };
  });
  // The request names neither the scans nor the changes.
  ctx.noteWrites({ furtherBytes: history * BOUND_KINDS.receipt.item_bytes });
  return voided;
}

async function selectLocked(tx: UserTx, id: string): Promise<{ row: ReceiptRow; keys: string[] }> {
  const [row] = await tx.query(queries.lockedReceipt(tx, id));
  if (!row) throw new ApiError('package_not_found');
  return { row, keys: keysOfPackage(row) };
}

/** @throws ApiError receipt_not_voidable, permission_denied */
function assertVoidable({ role }: UserCaller, { status }: ReceiptRow, use: UseRow): void {
  const { manifestNumber, loadedNumber, invoiceNumber } = use;
  if (use.hasLeft || (status !== 'received' && status !== 'on_hold'))
    throw new ApiError('receipt_not_voidable', { variant: 'status', args: { status } });
  if (manifestNumber !== null)
    throw new ApiError('receipt_not_voidable', { variant: 'manifest', args: { number: manifestNumber } });
  if (loadedNumber !== null)
    throw new ApiError('receipt_not_voidable', { variant: 'loaded', args: { number: loadedNumber } });
  if (invoiceNumber !== null)
    throw new ApiError('receipt_not_voidable', { variant: 'billed', args: { number: invoiceNumber } });
  if (role === 'warehouse' && !use.isNew) throw new ApiError('permission_denied', { variant: 'old_receipt' });
}

/** Sets the pre-alerts of the parcel to pending, with the keys of their own numbers. Returns the audit entries. */
async function reopenAll(
  tx: UserTx,
  { courier_id, tracking_key }: ReceiptRow,
  keys: string[],
): Promise<AuditFact[]> {
  const [open, received, flagged] = await tx.query([
    openWithKey(tx, tracking_key),
    reopenPrealerts(tx, courier_id, keys),
    reopenFlagged(tx, keys),
  ]);
  const renamed = await ownKeys([...open, ...received, ...flagged]);
  emitPrealertEvents(tx, 'prealert.reopened', [...received, ...flagged]);
  if (renamed.length > 0) tx.later(restoreKeys(tx, renamed));
  return [
    ...received.map((prealert) => reopenedFact(prealert)),
    ...flagged.map((prealert) => reopenedFact(prealert, 'flagged')),
  ];
}
