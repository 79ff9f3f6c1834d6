export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const iso = (ms: number): string => new Date(ms).toISOString();
/** `YYYY-MM-DD`. */
export const dateOf = (ms: number): string => iso(ms).slice(0, 10);
/** 0 is Sunday. */
export const weekdayOf = (ms: number): number => new Date(ms).getUTCDay();

/** Sunday to Saturday. Carriers deliver little at weekends, and a weekend's orders arrive on Monday. */
const WEEK = [0.1, 1.35, 1.3, 1.2, 1.15, 1.15, 0.75];
/** January to December: the weeks before Christmas are the busiest, and January is quiet. */
const YEAR = [0.75, 0.85, 0.95, 0.95, 1.05, 0.95, 1.0, 1.1, 0.95, 1.0, 1.3, 1.5];

/** Returns how many parcels arrive on a day, relative to the mean of a year. */
export const busynessOf = (dayMs: number): number =>
  (WEEK[weekdayOf(dayMs)] ?? 1) * (YEAR[new Date(dayMs).getUTCMonth()] ?? 1);
