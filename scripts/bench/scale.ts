/** How much a run of the bench loads and measures. */
export type Scale = {
  name: 'full' | 'smoke';
  /** Rows of everything in the two tenants that are measured. */
  small: number;
  large: number;
  manifestPackages: number;
  /** How often both sides of a row are measured; the median counts. */
  rounds: number;
  /** How many calls a measurement of `usual` calls makes. */
  times(usual: number): number;
  /** How long a rate is measured. */
  seconds: number;
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
  seconds: 4,
  exported: 10_000,
  added: 10_000,
  uploaded: 100_000,
  delivered: 5_000,
  floodSeconds: 15,
};

/** Every row once, on little data: it shows that the rows run, and its figures mean nothing. */
export const SMOKE: Scale = {
  name: 'smoke',
  small: 1_000,
  large: 5_000,
  manifestPackages: 200,
  rounds: 1,
  // a measurement through psql takes the difference between one call and several
  times: (usual) => Math.min(usual, 5),
  seconds: 1,
  exported: 1_000,
  added: 500,
  uploaded: 1_000,
  delivered: 200,
  floodSeconds: 1,
};

/** `10 k`, `1 M`, or the digits: how row names state a number of rows of a tenant. */
export function rowCount(rows: number): string {
  if (rows >= 1_000_000) return `${rows / 1_000_000} M`;
  return rows >= 1_000 ? `${rows / 1_000} k` : String(rows);
}

/** `100,000`: how row names state any other number. */
export const digits = (count: number): string => count.toLocaleString('en-US');
