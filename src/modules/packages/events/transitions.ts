import type { components } from '../../../../generated/contract.js';

type Schemas = components['schemas'];
export type PackageStatus = Schemas['PackageStatus'];
export type PackageEventKind = Schemas['PackageEventKind'];

/** The statuses that staff may record. `received` comes only from intake, `shipped` only from manifests. */
type Recorded = Exclude<PackageEventKind, 'released'>;

/**
 * The statuses that staff may record after each status. The table in the contract (recordPackageEvent) is the
 * same.
 */
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

export const isPackageStatus = (text: string): text is PackageStatus => Object.hasOwn(NEXT, text);

/** The statuses that `released` ends. The package returns to its status before them. */
export const SUSPENDED = ['on_hold', 'customs_hold', 'lost'] as const satisfies PackageStatus[];

type ManifestStatusEffect = { from: readonly PackageStatus[]; to: PackageStatus };

/**
 * The status that a manifest's transition gives its packages, and the statuses it applies to. A status
 * recorded by staff takes precedence.
 */
export const MANIFEST_STATUS_EFFECTS: Partial<Record<Schemas['ManifestStatus'], ManifestStatusEffect>> = {
  shipped: { from: ['received'], to: 'shipped' },
  completed: { from: ['shipped', 'in_transit'], to: 'delivered' },
};

/** The state of a package that decides which event may be recorded. */
export type PackageState = {
  status: PackageStatus;
  /** The latest status that is not in SUSPENDED. It is the current status unless the package is suspended. */
  unsuspendedStatus: PackageStatus;
  /** Whether the package's manifest has been shipped. */
  hasManifestLeft: boolean;
};

/**
 * Returns the package's status after an event, or undefined if the event is not allowed. An event that
 * repeats the current status changes nothing.
 */
export function statusAfter(state: PackageState, kind: PackageEventKind): PackageStatus | undefined {
  if (kind === 'released') return statusAfterRelease(state);
  if (kind === state.status) return kind;
  return nextStatuses(state.status).includes(kind) ? kind : undefined;
}

/** A package on hold whose manifest was shipped has left with the manifest. */
function statusAfterRelease({ unsuspendedStatus, hasManifestLeft }: PackageState): PackageStatus {
  return unsuspendedStatus === 'received' && hasManifestLeft ? 'shipped' : unsuspendedStatus;
}

export const nextStatuses = (status: PackageStatus): readonly PackageStatus[] => NEXT[status];
