import type { components } from '../../../../generated/contract.js';

type Schemas = components['schemas'];
export type PackageStatus = Schemas['PackageStatus'];
export type PackageEventKind = Schemas['PackageEventKind'];

/** What staff may record. `received` and `shipped` come from intake and manifests alone. */
type Recorded = Exclude<PackageEventKind, 'released'>;

/** From each status, what staff may record next. The contract's table says the same (recordPackageEvent). */
const NEXT = {
  received: ['in_transit', 'on_hold', 'customs_hold', 'returned', 'lost'],
  shipped: ['in_transit', 'on_hold', 'customs_hold', 'delivered', 'returned', 'lost'],
  in_transit: ['on_hold', 'customs_hold', 'delivered', 'returned', 'lost'],
  on_hold: ['in_transit', 'customs_hold', 'delivered', 'returned', 'lost'],
  customs_hold: ['in_transit', 'on_hold', 'delivered', 'returned', 'lost'],
  lost: ['in_transit', 'delivered', 'returned'],
  delivered: ['returned'],
  returned: [],
} satisfies Record<PackageStatus, Recorded[]>;

/** What `released` leads out of: back to what was before. */
export const SUSPENDED = ['on_hold', 'customs_hold', 'lost'] as const satisfies PackageStatus[];

type Carried = { from: readonly PackageStatus[]; to: PackageStatus };

/** What a manifest's step makes of the packages aboard, and of which: what staff have recorded stands above it. */
export const CARRIED: Partial<Record<Schemas['ManifestStatus'], Carried>> = {
  shipped: { from: ['received'], to: 'shipped' },
  completed: { from: ['shipped', 'in_transit'], to: 'delivered' },
};

/** Where a package stands when something is recorded of it. */
export type Standing = {
  status: PackageStatus;
  /** Its last status that was neither a hold nor a loss: its own, while it is in none. */
  freeStatus: PackageStatus;
  /** Whether the manifest that it is on has been shipped. */
  hasManifestLeft: boolean;
};

/** What a package becomes by what is recorded of it: its own status for no change, undefined where it cannot. */
export function statusAfter(standing: Standing, kind: PackageEventKind): PackageStatus | undefined {
  if (kind === 'released') return statusWhenFree(standing);
  if (kind === standing.status) return kind;
  return nextOf(standing.status).includes(kind) ? kind : undefined;
}

/** A package that was held when its manifest left has left with it. */
function statusWhenFree({ freeStatus, hasManifestLeft }: Standing): PackageStatus {
  return freeStatus === 'received' && hasManifestLeft ? 'shipped' : freeStatus;
}

export const nextOf = (status: PackageStatus): readonly PackageStatus[] => NEXT[status];
