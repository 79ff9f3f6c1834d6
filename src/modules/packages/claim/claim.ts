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

/** A pre-alert that staff have looked at. */
export type ReviewedAnnouncement = {
  id: string;
  courierId: string;
  userCode: string;
  trackingKey: string;
  vendor: string | null;
  description: string | null;
};

export type Claim = {
  /** The package that answers the pre-alert; null where none does. */
  packageId: string | null;
  /** What has become known of it: its courier, or only its customer. */
  change: 'courier' | 'customer' | 'none';
  facts: AuditFact[];
};

/**
 * The package that a pre-alert is answered by, the parcel being held: that of its number, if it is the courier's. With
 * `isAssigning` one of unknown owner becomes the courier's and its customer's, as intake would have made it.
 *
 * @throws ApiError package_not_assignable
 */
export async function claimPackage(
  { db, tx, caller }: Ctx,
  prealert: ReviewedAnnouncement,
  isAssigning: boolean,
): Promise<Claim> {
  const [row] = await tx.query<ClaimedRow>(lockParcelPackage(db, caller, prealert.trackingKey));
  if (isAssigning) assertAssignable(row, prealert);
  const isCouriers = row?.courier_id === prealert.courierId;
  if (!row || (!isCouriers && !isAssigning)) return { packageId: null, change: 'none', facts: [] };
  const isOwnerless = row.user_code === null && isAssigning;
  const owner = isOwnerless ? await ownerColumns({ db, tx, caller }, row, prealert) : {};
  const answers = isOwnerless || row.user_code === prealert.userCode;
  const { id, ...before } = row;
  const after = { ...before, ...owner, ...(answers ? { prealert_id: row.prealert_id ?? prealert.id } : {}) };
  const facts = listFacts(id, before, after);
  if (facts.length > 0) await tx.execute(changeOwner(db, caller, id, after));
  return { packageId: id, change: changeOf(before, after), facts };
}

/** Tells the courier, after all else has been written. */
export async function announceChange({ db, tx, caller }: Ctx, { packageId, change }: Claim): Promise<void> {
  if (packageId === null || change === 'none') return;
  if (change === 'courier') return recordPackageEvents({ db, tx }, 'package.created', [{ packageId }]);
  await tx.query(queueSyncs(caller, sql`${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid`));
}

function assertAssignable(row: ClaimedRow | undefined, prealert: ReviewedAnnouncement): void {
  if (!row) throw new ApiError('package_not_assignable');
  const isSibling = row.courier_id !== null && row.courier_id !== prealert.courierId;
  const isOthers = row.user_code !== null && row.user_code !== prealert.userCode;
  if (!isSibling && !isOthers) return;
  throw new ApiError('package_not_assignable', { variant: 'owned' });
}

/** As intake has them: of a code that no active customer has any more, the courier alone. */
async function ownerColumns(
  { db, tx, caller }: Ctx,
  row: ClaimedRow,
  { courierId, userCode, vendor, description }: ReviewedAnnouncement,
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

/** What differs, for the audit trail; nothing where nothing does. */
function listFacts(entityId: string, before: ClaimedColumns, after: ClaimedColumns): AuditFact[] {
  // as: its own keys
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
