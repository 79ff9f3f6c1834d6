/** Returns the time that a text of a response or a webhook means. It names no zone, and is in UTC. */
export function parseTime(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}Z`);
}
