import type { AuditFact } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Tx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { recordPackageEvents } from '../../webhooks/public.js';
import { changeOwner, lockParcelPackage, type ClaimedColumns, type ClaimedRow } from './queries.js';
import { findCustomers, type CustomerRow } from '../intake/queries.js';
import { queueSyncs } from '../dispatch/queue-syncs.js';

type Ctx = { db: Db; tx: Tx; caller: UserCaller };

/** A pre-alert under review by staff. */
export type ReviewedPrealert = {
  id: string;
  courierId: string;
  userCode: string;
  trackingKey: string;
  vendor: string | null;
  description: string | null;
};

export type Claim = {
  /** The package that the pre-alert is matched with, or null. */
  packageId: string | null;
  /** The package's change of owner: a new courier, only a new customer, or none. */
  change: 'courier' | 'customer' | 'none';
  facts: AuditFact[];
};

/**
 * Matches a pre-alert with the package of its tracking number, if that package belongs to the courier. The
 * caller must hold the parcel's lock. With `isAssigning`, a package of unknown owner is assigned to the
 * courier and its customer, as at intake.
 * @throws ApiError package_not_assignable
 */
export async function claimPackage(
  { db, tx, caller }: Ctx,
  prealert: ReviewedPrealert,
  isAssigning: boolean,
): Promise<Claim> {
  const [row] = await tx.query<ClaimedRow>(lockParcelPackage(db, caller, prealert.trackingKey));
  if (isAssigning) assertAssignable(row, prealert);
  const isCouriers = row?.courier_id === prealert.courierId;
  if (!row || (!isCouriers && !isAssigning)) return { packageId: null, change: 'none', facts: [] };
  const isOwnerless = row.user_code === null && isAssigning;
  const owner = isOwnerless ? await ownerColumns({ db, tx, caller }, row, prealert) : {};
  const isMatch = isOwnerless || row.user_code === prealert.userCode;
  const { id, ...before } = row;
  const after = { ...before, ...owner, ...(isMatch ? { prealert_id: row.prealert_id ?? prealert.id } : {}) };
  const facts = listFacts(id, before, after);
  if (facts.length > 0) await tx.execute(changeOwner(db, caller, id, after));
  return { packageId: id, change: changeOf(before, after), facts };
}

/** Notifies the courier of the change. Called after all other writes of the transaction. */
export async function notifyCourierOfClaim(
  { db, tx, caller }: Ctx,
  { packageId, change }: Claim,
): Promise<void> {
  if (packageId === null || change === 'none') return;
  const scope = { tenantId: tx.caller.tenantId, applicationFilters: db.applicationFilters };
  if (change === 'courier') return recordPackageEvents(scope, tx, 'package.created', [{ packageId }]);
  await tx.query(queueSyncs(caller, sql`${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid`));
}

function assertAssignable(row: ClaimedRow | undefined, prealert: ReviewedPrealert): void {
  if (!row) throw new ApiError('package_not_assignable');
  const isSibling = row.courier_id !== null && row.courier_id !== prealert.courierId;
  const isOthers = row.user_code !== null && row.user_code !== prealert.userCode;
  if (!isSibling && !isOthers) return;
  throw new ApiError('package_not_assignable', { variant: 'owned' });
}

/** Applies the rule of intake: if no active customer has the user code, only the courier is set. */
async function ownerColumns(
  { db, tx, caller }: Ctx,
  row: ClaimedRow,
  { courierId, userCode, vendor, description }: ReviewedPrealert,
): Promise<Partial<ClaimedColumns>> {
  const [customer] = await tx.query<CustomerRow>(findCustomers(db, caller, userCode, courierId));
  return {
    courier_id: courierId,
    user_code: customer?.user_code ?? null,
    first_name: customer?.first_name ?? row.first_name,
    last_name: customer?.last_name ?? row.last_name,
    shipper: row.shipper ?? vendor,
    description: row.description ?? description,
  };
}

function changeOf(before: ClaimedColumns, after: ClaimedColumns): Claim['change'] {
  if (before.courier_id !== after.courier_id) return 'courier';
  return before.user_code === after.user_code ? 'none' : 'customer';
}

/** Returns the audit entry of the changed columns, or an empty array if nothing changed. */
function listFacts(entityId: string, before: ClaimedColumns, after: ClaimedColumns): AuditFact[] {
  // `before` has exactly the keys of ClaimedColumns.
  const keys = (Object.keys(before) as (keyof ClaimedColumns)[]).filter((key) => before[key] !== after[key]);
  if (keys.length === 0) return [];
  const of = (columns: ClaimedColumns) => Object.fromEntries(keys.map((key) => [key, columns[key]]));
  return [
    {
      action: 'package.assigned',
      entity: 'package',
      entityId,
      before: of(before),
      after: of(after),
    },
  ];
}
