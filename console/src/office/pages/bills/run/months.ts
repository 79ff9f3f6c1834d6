import { settings } from '../../../../device/settings.js';
import { officeAddress } from '../../../../ui/router.js';

const SHOWN = 24;

const isMonth = (text: string) => /^20\d\d-(?:0[1-9]|1[0-2])$/.test(text);

/** Returns the month that is so many months before, `YYYY-MM`. Days of bills are in UTC. */
export const monthBefore = (now: Date, months: number): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7);

/** Returns the month of the address. Without one, the last month, because a month is billed when it is over. */
export function monthOfAddress(): string {
  const month = officeAddress.value?.query.get('month') ?? '';
  return isMonth(month) ? month : monthBefore(new Date(), 1);
}

/** Returns the choices of a month: two years, and the chosen one if it is older or later. The newest comes first. */
export function monthChoices(chosen: string): [month: string, text: string][] {
  const now = new Date();
  const months = Array.from({ length: SHOWN + 1 }, (_, index) => monthBefore(now, index));
  return [...new Set([...months, chosen])]
    .sort()
    .reverse()
    .map((month) => [month, monthName(month)]);
}

export function monthName(month: string): string {
  const format = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(settings.value.language, format).format(new Date(`${month}-01T00:00:00Z`));
}

/** Returns the first and the last day of a month. */
export function daysOf(month: string): { from: string; to: string } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { from: `${month}-01`, to: new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10) };
}
