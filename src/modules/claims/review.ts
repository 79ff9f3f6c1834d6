import { audit, auditLater, factOf, type AuditFact } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { keepUserCode } from '../../platform/db/locks.js';
import type { UserTx } from '../../platform/db/scope.js';
import { ApiError } from '../../platform/errors/errors.js';
import {
  claimPackage,
  deleteParcelFlags,
  lockLooked,
  notifyCourierOfClaim,
  unknownUserCode,
} from '../packages/public.js';
import { arrivalsOf, evidenceOf } from '../prealerts/public.js';
import { keysOfStored } from '../tracking-numbers/public.js';
import { emitPrealertEvents } from '../webhooks/public.js';
import {
  closePrealerts,
  decideClaims,
  findClaim,
  findPrealert,
  lockedClaim,
  lockedPrealert,
  openPrealerts,
  otherClaims,
  packagesOfKeys,
  receiveOwn,
  type ClaimantRow,
  type PackageNumber,
  type RivalRow,
} from './review-queries.js';

/** Who gets a parcel: the customer of a claim, or of a pre-alert. */
export type Claimant = { kind: 'claim' | 'prealert'; id: string };

export type Decided = { packageId: string; refusedClaims: number; closedPrealerts: number };

type Decision = { reason: string; package_id?: string | undefined };

/** A claimant under the locks of the parcel, with the packages that its number fits and all keys that are locked. */
type Locked = { row: ClaimantRow; userCode: string; packages: PackageNumber[]; keys: string[] };

const STATEMENTS = {
  claim: { find: findClaim, lock: lockedClaim, missing: 'parcel_claim_not_found' },
  prealert: { find: findPrealert, lock: lockedPrealert, missing: 'prealert_not_found' },
} as const;

/**
 * Gives a parcel without a customer to a claimant, and settles all other claims and pre-alerts of the parcel. Of concurrent decisions
 * about one parcel, one gives it an owner. Locks, in this order: the claimant's user code, the parcel, the claimant, the pre-alerts
 * of the parcel, its package, the other claims, and the event counter of the courier.
 *
 * @throws ApiError parcel_claim_not_found, prealert_not_found, parcel_claim_decided, package_not_assignable, unknown_user_code,
 * validation_failed if several packages fit and none is named, overloaded if the customer is renamed meanwhile
 */
export async function giveParcel(
  ctx: UserContext,
  claimant: Claimant,
  { reason, package_id }: Decision,
): Promise<Decided> {
  return ctx.write(async (tx) => {
    const { row, userCode, packages, keys } = await lockClaimant(tx, claimant);
    const isAnnounced = claimant.kind === 'prealert';
    const [announced, [arrivals]] = await tx.query([
      openPrealerts(tx, keys),
      arrivalsOf(tx, isAnnounced ? [row.courierId] : []),
    ]);
    const isOwners = (prealert: RivalRow) =>
      prealert.courierId === row.courierId && prealert.userCode === userCode;
    const ownKeys = keysOfStored(row);
    const own = announced.find((prealert) => isOwners(prealert) && ownKeys.includes(prealert.trackingKey));
    const prealertId = isAnnounced ? claimant.id : (own?.id ?? null);
    const { courierId, vendor, description } = row;
    const claim = await claimPackage(
      tx,
      { id: prealertId, courierId, userCode, vendor, description, keys: ownKeys },
      { assign: true, package_id },
    );
    const given = packages.find(({ id }) => id === claim.packageId);
    if (!given) throw new Error('A parcel was assigned that the decision has not locked.');
    const parcelKeys = keysOfStored(given);
    const ofParcel = announced.filter(({ trackingKey }) => parcelKeys.includes(trackingKey));
    const refused = await tx.query(otherClaims(tx, parcelKeys, claimant.id));
    const received = ofParcel.filter(isOwners);
    const closed = ofParcel.filter((prealert) => !isOwners(prealert));
    settle(tx, { claimant, given, parcelKeys, refused, received, closed });
    const evidence = arrivals ? evidenceOf(row, given, arrivals) : {};
    const facts = factsOf({ claimant, given, reason, evidence, refused, received, closed });
    tx.later(audit(tx, ...facts, ...claim.facts));
    await notifyCourierOfClaim(tx, claim);
    emitPrealertEvents(tx, 'prealert.claimed', received);
    const unflagged = closed.filter(({ status }) => status === 'flagged');
    emitPrealertEvents(tx, 'prealert.reopened', unflagged);
    return { packageId: given.id, refusedClaims: refused.length, closedPrealerts: closed.length };
  });
}

/**
 * Refuses an open claim.
 * @throws ApiError parcel_claim_not_found, parcel_claim_decided
 */
export async function refuseClaim(ctx: UserContext, id: string, reason: string): Promise<void> {
  await ctx.write(async (tx) => {
    const [row] = await tx.query(lockedClaim(tx, id));
    if (!row) throw new ApiError('parcel_claim_not_found');
    assertOpen(row);
    tx.later(decideClaims(tx, [id], { status: 'refused', reason, packageId: null }));
    auditLater(tx, 'parcel_claim.refused', id, { ...opened('refused'), remarks: reason });
  });
}

/** Locks the claimant, and the parcels of all keys that it and its packages have. */
async function lockClaimant(tx: UserTx, { kind, id }: Claimant): Promise<Locked> {
  const { find, lock, missing } = STATEMENTS[kind];
  const [known] = await tx.query(find(tx, id));
  if (!known) throw new ApiError(missing);
  // Before the parcel, because a rename waits for those who keep the code, and they may wait for a parcel.
  if (known.userCode !== null) tx.later(keepUserCode(tx.tenantId, known.userCode));
  const withPackages = async (row: ClaimantRow) => {
    const packages = await tx.query(packagesOfKeys(tx, keysOfStored(row)));
    const keys = [...new Set([row, ...packages].flatMap((numbered) => keysOfStored(numbered)))];
    return { row, packages, keys };
  };
  const locked = await lockLooked(tx, {
    look: () => withPackages(known),
    async identify() {
      const [row] = await tx.query(lock(tx, id));
      if (!row) throw new ApiError(missing);
      return withPackages(row);
    },
  });
  assertOpen(locked.row);
  const { userCode } = locked.row;
  if (userCode === null) throw unknownUserCode('claim_id');
  if (userCode !== known.userCode) throw new ApiError('overloaded', { retryAfterSeconds: 1 });
  return { ...locked, userCode };
}

/** @throws ApiError parcel_claim_decided */
function assertOpen({ status }: Pick<ClaimantRow, 'status'>): void {
  if (status === 'open' || status === 'pending' || status === 'flagged') return;
  throw new ApiError('parcel_claim_decided', { args: { status } });
}

type Settled = {
  claimant: Claimant;
  given: PackageNumber;
  refused: { id: string }[];
  received: RivalRow[];
  closed: RivalRow[];
};

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

function settle(
  tx: UserTx,
  { claimant, given, parcelKeys, refused, received, closed }: Settled & { parcelKeys: string[] },
): void {
  if (claimant.kind === 'claim')
    tx.later(decideClaims(tx, [claimant.id], { status: 'approved', reason: null, packageId: given.id }));
  // Without the reason, which may name the owner.
  if (refused.length > 0)
    tx.later(decideClaims(tx, idsOf(refused), { status: 'refused', reason: null, packageId: null }));
  if (received.length > 0) tx.later(receiveOwn(tx, idsOf(received), given));
  if (closed.length > 0) tx.later(closePrealerts(tx, idsOf(closed)));
  tx.later(deleteParcelFlags(tx, parcelKeys));
}

function factsOf({
  claimant,
  given,
  reason,
  evidence,
  refused,
  received,
  closed,
}: Settled & { reason: string; evidence: object }): AuditFact[] {
  const after = { package_id: given.id };
  const approved: AuditFact[] =
    claimant.kind === 'claim'
      ? [
          factOf('parcel_claim.approved', claimant.id, {
            before: { status: 'open' },
            after: { status: 'approved', ...after },
            remarks: reason,
          }),
        ]
      : [];
  const reviewed = ({ id, status: previous }: RivalRow, status: string, details: object) =>
    factOf('prealert.reviewed', id, {
      before: { status: previous },
      after: { status, ...details },
      remarks: reason,
    });
  return [
    ...approved,
    ...refused.map(({ id }) => factOf('parcel_claim.refused', id, { ...opened('refused'), remarks: reason })),
    ...received.map((prealert) =>
      reviewed(prealert, 'received', prealert.id === claimant.id ? { ...after, ...evidence } : after),
    ),
    ...closed.map((prealert) => reviewed(prealert, 'pending', { closed: true })),
  ];
}

const opened = (status: string) => ({ before: { status: 'open' }, after: { status } });
