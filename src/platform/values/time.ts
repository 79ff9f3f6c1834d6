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

/** Both days are included, in UTC. */
export type MonthPeriod = { startDate: string; endDate: string };

/** The first and the last day of a month, `YYYY-MM`. */
export function periodOfMonth(month: string): MonthPeriod {
  const [year = 0, number = 0] = month.split('-').map(Number);
  // Day 0 of the next month is the last one of this month.
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { startDate: `${month}-01`, endDate: `${month}-${String(last).padStart(2, '0')}` };
}
