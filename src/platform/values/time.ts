/** `YYYY-MM-DD HH:MM:SS` in UTC, the contract's date-time. */
export function formatDateTime(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** The same as RFC 3339 writes it, `YYYY-MM-DDTHH:MM:SSZ`. */
export const withZone = (dateTime: string): string => `${dateTime.replace(' ', 'T')}Z`;

/**
 * `YYYY-MM-DD HH:MM:SS EST`: the time on a clock of the time zone, with the zone's name as people there write it, or its distance from UTC, for
 * example `GMT-5`.
 *
 * @param zone a name of the IANA database
 */
export function formatLocalTime(date: Date, zone: string): string {
  if (zone === 'UTC') return `${formatDateTime(date)} UTC`;
  const { time, name } = formatsOf(zone);
  const parts = Object.fromEntries(time.formatToParts(date).map(({ type, value }) => [type, value]));
  const shown = name.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? zone;
  const { year, month, day, hour, minute, second } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${shown}`;
}

type Formats = Record<'time' | 'name', Intl.DateTimeFormat>;

// Making one takes about as long as 50 uses.
const formats = new Map<string, Formats>();

function formatsOf(zone: string): Formats {
  const known = formats.get(zone);
  if (known) return known;
  const digits = '2-digit';
  const time = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    second: digits,
  });
  const name = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'short' });
  formats.set(zone, { time, name });
  return { time, name };
}

/** `YYYY-MM-DD` in UTC. */
export function formatDate(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Midnight UTC of a `YYYY-MM-DD`. */
export function parseDate(text: string): Date {
  return new Date(`${text}T00:00:00Z`);
}

/** Both days are included, in UTC. */
export type MonthPeriod = { startDate: string; endDate: string };

/** The first and the last day of a month, `YYYY-MM`. */
export function periodOfMonth(month: string): MonthPeriod {
  const [year = 0, number = 0] = month.split('-').map(Number);
  // Day 0 of the next month is the last one of this month.
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { startDate: `${month}-01`, endDate: `${month}-${String(last).padStart(2, '0')}` };
}
