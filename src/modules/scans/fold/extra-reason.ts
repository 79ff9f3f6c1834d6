import type { DataOf } from '../../../platform/contract/types.js';
import type { PackageStatus } from '../../packages/public.js';

type LoadingParcel = DataOf<'getManifestLoading'>['parcels'][number];
export type ExtraReason = NonNullable<LoadingParcel['reason']>;

/** A package with one of these statuses must not leave with a manifest. */
export const HELD = ['on_hold', 'customs_hold', 'returned', 'lost'] as const satisfies PackageStatus[];

export const isHeld = (status: PackageStatus): boolean => HELD.some((held) => held === status);

/** The manifest that a package is assigned to, and the manifests that a package of its courier is assigned to. */
export type Assignment = { manifestId: string | null; isCourierOn: (manifestId: string) => boolean };

/**
 * Returns why a received parcel must not be loaded for a manifest; null if it may. `loadedParcels` in loading/queries.ts has
 * the same rule in SQL.
 */
export function whyExtra(
  { manifestId: assigned, isCourierOn }: Assignment,
  manifestId: string,
  isOnHold: boolean,
): Exclude<ExtraReason, 'unknown'> | null {
  if (isOnHold) return 'on_hold';
  if (assigned === manifestId) return null;
  if (assigned !== null) return 'other_manifest';
  return isCourierOn(manifestId) ? 'not_assigned' : 'other_courier';
}
