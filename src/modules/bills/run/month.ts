/** Both days are included, in UTC. */
export type MonthPeriod = { startDate: string; endDate: string };

/** The first and the last day of a month, `YYYY-MM`. */
export function periodOfMonth(month: string): MonthPeriod {
  const [year = 0, number = 0] = month.split('-').map(Number);
  // Day 0 of the next month is the last one of this month.
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { startDate: `${month}-01`, endDate: `${month}-${String(last).padStart(2, '0')}` };
}
