// Days of the service's figures and bills are in UTC.

export const DAY_MS = 86_400_000;

/** Returns the day of a moment as YYYY-MM-DD. */
export const utcDay = (ms = Date.now()): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the last so many days until today, both included. */
export const lastDays = (days: number, nowMs = Date.now()): { from: string; to: string } => ({
  from: utcDay(nowMs - (days - 1) * DAY_MS),
  to: utcDay(nowMs),
});
