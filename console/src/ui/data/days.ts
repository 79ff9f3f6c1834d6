// Without the DOM. Days of bills are in UTC. Those of the warehouse, its figures and its filters are in the time zone of the tenant.

export const DAY_MS = 86_400_000;

/** Returns the day of a moment in UTC as YYYY-MM-DD. */
export const utcDay = (ms = Date.now()): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the day so many days after another. */
export const dayAfter = (day: string, days: number): string =>
  utcDay(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS);

/** Returns the day of a moment in a time zone as YYYY-MM-DD. */
export function localDay(ms: number, zone: string): string {
  const { year, month, day } = partsOf(ms, zone);
  return `${year}-${month}-${day}`;
}

/** Returns the hour of a moment on the clock of a time zone, 0 to 23. */
export const localHour = (ms: number, zone: string): number => Number(partsOf(ms, zone).hour);

/** Returns when a day begins in a time zone, as the date and time in UTC that the service reads. */
export function startOfDay(day: string, zone: string): string {
  const utc = Date.parse(`${day}T00:00:00Z`);
  // The offset of about midnight. Twice, because the clock may change in between.
  const moment = utc - offsetOf(utc - offsetOf(utc, zone), zone);
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ');
}

/** Returns the last so many days until today in a time zone, both included. */
export function lastDays(days: number, nowMs = Date.now(), zone = 'UTC'): { from: string; to: string } {
  const to = localDay(nowMs, zone);
  return { from: dayAfter(to, 1 - days), to };
}

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second';

function partsOf(ms: number, timeZone: string): Record<Part, string> {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(ms);
  // The format has all these parts.
  return Object.fromEntries(parts.map(({ type, value }) => [type, value])) as Record<Part, string>;
}

/** Returns how far the clock of a time zone is ahead of UTC, in ms. */
function offsetOf(ms: number, zone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(ms, zone);
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - Math.floor(ms / 1000) * 1000;
}
