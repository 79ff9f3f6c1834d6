const FORM = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)$/;

/**
 * Reads a time of the command line, as ISO 8601 or as PostgreSQL prints it. Digits after the milliseconds are cut off.
 *
 * @throws Error if it has no zone: Date would take that of the machine
 */
export function timeOf(text: string): Date {
  const [, day = '', clock = '', zone = ''] = FORM.exec(text) ?? [];
  const time = new Date(`${day}T${clock}${offsetOf(zone)}`);
  // Date takes February 30 for March 2.
  const isDay = !Number.isNaN(time.getTime()) && new Date(`${day}T00:00Z`).toISOString().startsWith(day);
  if (!isDay)
    throw new Error(
      `${text} is not a time with a zone. Write it like 2026-12-01T10:00:00Z or, as PostgreSQL prints it, like '2026-12-01 10:00:00.123456+00', in quotes.`,
    );
  return time;
}

function offsetOf(zone: string): string {
  if (zone === 'Z' || zone === 'UTC') return 'Z';
  const [sign, digits] = [zone.slice(0, 1), zone.slice(1).replace(':', '').padEnd(4, '0')];
  return `${sign}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
