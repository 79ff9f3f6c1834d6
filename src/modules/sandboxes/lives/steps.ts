import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { formatDateTime, periodOfMonth } from '../../../platform/values/time.js';
import { createDraft, publishBill } from '../../bills/public.js';
import { giveParcel, submitClaim } from '../../claims/public.js';
import { addPackages, createManifest, updateManifest } from '../../manifests/public.js';
import { receivePackage, recordPackageEvent, unknownUserCode, updatePackage } from '../../packages/public.js';
import { reviewPrealert } from '../../prealerts/public.js';
import { executeBatch, executeWaitingScans } from '../../scans/public.js';
import { readNumber } from '../../tracking-numbers/public.js';
import {
  claimantOf,
  firstCode,
  packageOfLife,
  prealertOfLife,
  type Made,
  type PlayedLife,
} from './step-queries.js';
import type { StepName } from './table.js';

/**
 * Plays a step: executes an operation of the warehouse as its user of the sandbox. It reads at most before the operation, which opens the
 * one writing transaction of the context. Returns the records that it has made.
 *
 * @throws ApiError what the operation throws
 */
type Play = (ctx: UserContext, life: PlayedLife) => Promise<Made>;

const REASON = 'The life of a parcel in a sandbox.';

/** Of the parcel on the scale. `weight` corrects the first to the second. */
const WEIGHT_LB = { wrong: 12.5, right: 2.5 };

/** A life is no attempt of a person. The courier's quota counts its claims. */
const UNCOUNTED = {
  address: '',
  limits: { countAttempt: () => Promise.resolve(), countNewNumber: () => Promise.resolve() },
};

export const PLAY: Record<StepName, Play> = {
  async package_received(ctx, life) {
    const [[prealert]] = await ctx.read([prealertOfLife(ctx, life.prealertId)]);
    if (!prealert && life.prealertId !== null) throw new ApiError('prealert_not_found');
    const { row } = await receivePackage(
      ctx,
      {
        tracking_number: prealert?.trackingNumber ?? life.trackingNumber,
        weight: life.life === 'weight' ? WEIGHT_LB.wrong : WEIGHT_LB.right,
        ...(life.life === 'disputed' && prealert?.otherCode ? { user_code: prealert.otherCode } : {}),
      },
      executeWaitingScans,
    );
    return { packageId: row.id };
  },

  async package_put_away(ctx, life) {
    const { trackingNumber, now } = await readPackage(ctx, life);
    const scan = {
      kind: 'locate' as const,
      scan_id: newId(),
      scanned_at: formatDateTime(now),
      scan: trackingNumber,
      location: 'Shelf S-1',
    };
    const [result] = await executeBatch(ctx, { station: 'Sandbox', scans: [{ value: scan }] }, () =>
      Promise.resolve(),
    );
    if (result && 'refusal' in result)
      throw new ApiError('validation_failed', { errors: result.refusal.errors });
    return {};
  },

  async package_corrected(ctx, life) {
    const body = { package_id: packageIdOf(life), weight: WEIGHT_LB.right };
    await updatePackage(ctx, body, executeWaitingScans);
    return {};
  },

  package_held: (ctx, life) => recordEvent(ctx, life, 'on_hold'),
  package_released: (ctx, life) => recordEvent(ctx, life, 'released'),
  package_lost: (ctx, life) => recordEvent(ctx, life, 'lost'),
  package_returned: (ctx, life) => recordEvent(ctx, life, 'returned'),

  async prealert_reviewed(ctx, { prealertId }) {
    if (prealertId === null) throw new ApiError('prealert_not_found');
    await reviewPrealert(ctx, { prealert_id: prealertId, reason: REASON, assign: true });
    return {};
  },

  async parcel_claimed(ctx, { courierId, trackingNumber }) {
    const [[claimant], [customer]] = await ctx.read([
      claimantOf(ctx, courierId, keysOf(trackingNumber)),
      firstCode(ctx, courierId),
    ]);
    // The courier has announced the parcel itself.
    if (claimant) return {};
    if (!customer) throw unknownUserCode('user_code');
    const claim = { courier_id: courierId, tracking_number: trackingNumber, user_code: customer.userCode };
    await submitClaim(ctx, claim, UNCOUNTED);
    return {};
  },

  async claim_approved(ctx, life) {
    const [[claimant]] = await ctx.read([claimantOf(ctx, life.courierId, keysOf(life.trackingNumber))]);
    if (!claimant) throw new ApiError('parcel_claim_not_found');
    await giveParcel(ctx, claimant, { reason: REASON, package_id: packageIdOf(life) });
    return {};
  },

  async manifest_created(ctx) {
    const { id } = await createManifest(ctx, { notes: REASON });
    return { manifestId: id };
  },

  async manifest_loaded(ctx, life) {
    await addPackages(ctx, manifestIdOf(life), [packageIdOf(life)]);
    return {};
  },

  manifest_ready: (ctx, life) => moveManifest(ctx, life, 'ready'),
  manifest_shipped: (ctx, life) => moveManifest(ctx, life, 'shipped'),
  manifest_completed: (ctx, life) => moveManifest(ctx, life, 'completed'),

  async bill_drafted(ctx, life) {
    const { billId, month } = await readPackage(ctx, life);
    // The bill of another life has its parcel too: bills are of a month.
    if (billId !== null) return { billId };
    const { startDate, endDate } = periodOfMonth(month);
    const draft = await createDraft(ctx, {
      courier_id: life.courierId,
      start_date: startDate,
      end_date: endDate,
      service_type: 'Air freight',
      tax_rate: 0,
    });
    return { billId: draft.billId };
  },

  async bill_published(ctx, life) {
    const { billId, billStatus } = await readPackage(ctx, life);
    if (billId === null) throw new ApiError('bill_not_found');
    if (billStatus === 'draft') await publishBill(ctx, { bill_id: billId });
    return { billId };
  },
};

type Kind = BodyOf<'recordPackageEvent'>['status'];

async function recordEvent(ctx: UserContext, life: PlayedLife, status: Kind): Promise<Made> {
  await recordPackageEvent(ctx, { package_id: packageIdOf(life), status, remarks: REASON });
  return {};
}

async function moveManifest(
  ctx: UserContext,
  life: PlayedLife,
  status: 'ready' | 'shipped' | 'completed',
): Promise<Made> {
  await updateManifest(ctx, { action: 'update_meta', manifest_id: manifestIdOf(life), status });
  return {};
}

async function readPackage(ctx: UserContext, life: PlayedLife) {
  const [[stored]] = await ctx.read([packageOfLife(ctx, packageIdOf(life))]);
  if (!stored) throw new ApiError('package_not_found');
  return stored;
}

const keysOf = (trackingNumber: string): string[] => [readNumber(trackingNumber, 'tracking_number').key];

function packageIdOf({ packageId }: PlayedLife): string {
  if (packageId === null) throw new ApiError('package_not_found');
  return packageId;
}

function manifestIdOf({ manifestId }: PlayedLife): string {
  if (manifestId === null) throw new ApiError('manifest_not_found');
  return manifestId;
}
