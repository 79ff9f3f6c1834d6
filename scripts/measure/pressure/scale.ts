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
  mix: MixScale;
};

/** The amounts of the rows with the mix of a busy day. */
export type MixScale = {
  /** Requests per second of each row, and how long it takes. */
  rates: readonly number[];
  seconds: number;
  /** The capacity is searched from the first rate to the highest, in steps of a quarter. */
  firstRate: number;
  maxRate: number;
  stepSeconds: number;
  /** The overload, and how much of its beginning is not measured: a burst is served whole, and takes longer. */
  overloadSeconds: number;
  settleSeconds: number;
  admittedP99Ms: number;
  refusedP99Ms: number;
  /** The throughput of the overload, as a share of the best. */
  servedShare: number;
  /** The share of their requests that light callers get served. */
  lightShare: number;
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
  mix: {
    ...{ rates: [300, 600], seconds: 20, firstRate: 200, maxRate: 3_000, stepSeconds: 6 },
    ...{ overloadSeconds: 20, settleSeconds: 5 },
    ...{ admittedP99Ms: 250, refusedP99Ms: 50, servedShare: 0.9, lightShare: 0.95 },
  },
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
  mix: {
    ...{ rates: [30], seconds: 2, firstRate: 50, maxRate: 60, stepSeconds: 2 },
    ...{ overloadSeconds: 4, settleSeconds: 1 },
    ...{ admittedP99Ms: 2_500, refusedP99Ms: 1_500, servedShare: 0.2, lightShare: 0.5 },
  },
};
