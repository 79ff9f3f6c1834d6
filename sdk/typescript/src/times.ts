/** Returns the time that a text of a response or a webhook means. It is in UTC, also if it names no zone. */
export function parseTime(text: string): Date {
  return new Date(text.replace(/ (.*)/, 'T$1Z'));
}

/** Returns a time as filters and fields take it, for example `changed_since`: in UTC, without a zone and without milliseconds. */
export function formatTime(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}
