/** `YYYY-MM-DD HH:MM:SS` in UTC, the contract's date-time. */
export function formatDateTime(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** `YYYY-MM-DD` in UTC. */
export function formatDate(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Midnight UTC of a `YYYY-MM-DD`. */
export function parseDate(text: string): Date {
  return new Date(`${text}T00:00:00Z`);
}
