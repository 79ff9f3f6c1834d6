/** The amounts of data and measurements of a bench run. */
export type Scale = {
  name: 'full' | 'smoke';
  /** Customers, pre-alerts and packages of the two measured tenants, each. */
  small: number;
  large: number;
  manifestPackages: number;
  /** The number of measurements per row; the report uses the median. */
  rounds: number;
  /** The number of calls per measurement, instead of `usual`. */
  times(usual: number): number;
  /** The duration of a rate measurement. */
  seconds: number;
  /** The connections that run the same statements without the service. */
  clients: number;
  /** The size of one load: it ends after this time, or after `requests`. */
  load: { seconds: number; requests?: number };
  /** The pre-alerts of one body of lines. */
  lines: number;
  /** The packages of one event call and of one bill. */
  eventPackages: number;
  exported: number;
  added: number;
  uploaded: number;
  delivered: number;
  floodSeconds: number;
};

export const FULL: Scale = {
  name: 'full',
  small: 10_000,
  large: 1_000_000,
  manifestPackages: 2_000,
  rounds: 3,
  times: (usual) => usual,
  seconds: 3,
  // As many as the service's pool has.
  clients: 10,
  load: { seconds: 3 },
  lines: 1_000,
  eventPackages: 1_000,
  exported: 10_000,
  added: 10_000,
  uploaded: 100_000,
  delivered: 5_000,
  floodSeconds: 15,
};

/** Runs every row once on little data. This shows that the rows work; the figures mean nothing. */
export const SMOKE: Scale = {
  name: 'smoke',
  small: 1_000,
  large: 5_000,
  manifestPackages: 200,
  rounds: 1,
  // With psql, a measurement is the difference between one call and several.
  times: (usual) => Math.min(usual, 5),
  seconds: 1,
  // Each plans every statement anew, which takes longer than five transactions.
  clients: 2,
  load: { seconds: 5, requests: 20 },
  lines: 50,
  eventPackages: 50,
  exported: 1_000,
  added: 500,
  uploaded: 1_000,
  delivered: 200,
  floodSeconds: 1,
};

/** Formats a tenant's number of rows for row names: `10 k`, `1 M`, or digits. */
export function rowCount(rows: number): string {
  if (rows >= 1_000_000) return `${rows / 1_000_000} M`;
  return rows >= 1_000 ? `${rows / 1_000} k` : String(rows);
}

/** Formats any other number for row names: `100,000`. */
export const digits = (count: number): string => count.toLocaleString('en-US');
