/** Reads a time of the command line. @throws Error if it has no zone: Date would take that of the machine */
export function timeOf(text: string): Date {
  const time = new Date(text);
  if (!/T.*(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(time.getTime()))
    throw new Error(`${text} is not a time with a zone, for example 2026-12-01T10:00:00Z.`);
  return time;
}
