/**
 * Returns a time by its distance from today (UTC), as an ISO date-time. Distances are whole days, so that the rows of a
 * period do not depend on the hour at which the demo data are loaded.
 */
export function daysBefore(now: Date, days: number, minuteOfDay = 0): string {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - days);
  return new Date(midnight + minuteOfDay * 60_000).toISOString();
}

/** `YYYY-MM-DD`. */
export function dateBefore(now: Date, days: number): string {
  return daysBefore(now, days).slice(0, 10);
}
