export const BULK_KINDS = ['csv', 'xlsx', 'upload', 'reconciliation'] as const;

export type BulkKind = (typeof BULK_KINDS)[number];

/** The amounts of a pressure run. */
export type Scale = {
  name: 'full' | 'smoke';
  /** Customers, pre-alerts and packages of the tenant, each. */
  size: number;
  manifestPackages: number;
  /** Light requests per second, and logins per second. */
  perSecond: number;
  loginsPerSecond: number;
  seconds: number;
  /** The kinds of bulk work that run. */
  bulk: readonly BulkKind[];
  /** Whether logins use connections that stay open, as behind a proxy. */
  isProxied: boolean;
  /** The pause of each kind of bulk work between two rounds. */
  pauseSeconds: number;
  /** Rows of one export. The contract allows 10,000 per request, so it takes several. */
  exported: number;
  /** Rows of one upload. */
  uploaded: number;
  /** The 99th percentile of the light requests must be below it. */
  p99Ms: number;
  /** The longest work of the service in one turn of its event loop, in CPU time. */
  maxBlockMs: number;
};

export const FULL: Scale = {
  name: 'full',
  size: 100_000,
  manifestPackages: 500,
  perSecond: 150,
  loginsPerSecond: 100,
  seconds: 60,
  bulk: BULK_KINDS,
  isProxied: false,
  pauseSeconds: 0,
  exported: 100_000,
  uploaded: 100_000,
  p99Ms: 150,
  maxBlockMs: 150,
};

/** A short run for machines of any speed: only the bounds that a blocked event loop would exceed. */
export const SMOKE: Scale = {
  name: 'smoke',
  size: 5_000,
  manifestPackages: 200,
  perSecond: 30,
  loginsPerSecond: 10,
  seconds: 12,
  bulk: BULK_KINDS,
  isProxied: false,
  pauseSeconds: 0,
  exported: 2_000,
  uploaded: 2_000,
  p99Ms: 1_500,
  maxBlockMs: 500,
};
