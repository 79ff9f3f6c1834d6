import { Decimal } from 'decimal.js';
import type { Invoice } from './invoice.js';

/** Formats an amount exactly, for example `1,234.50`. */
export const money = (decimal: string): string =>
  // oxlint-disable-next-line regexp/no-super-linear-move -- an amount is short
  new Decimal(decimal).toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');

/** Formats a quantity without trailing zeros, for example `4.25`. */
export const quantity = (decimal: string): string => new Decimal(decimal).toFixed();

export const sumExactly = (decimals: string[]): string =>
  decimals.reduce((total, each) => total.plus(each), new Decimal(0)).toFixed();

/** Returns the sum of amounts. */
export const sum = (decimals: string[]): string => new Decimal(sumExactly(decimals)).toFixed(2);

export const difference = (a: string, b: string): string => new Decimal(a).minus(b).toFixed(2);

/** Returns the name and the code of a currency, for example `US dollars (USD)`. */
export function currencyName(code: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay: 'name' });
  const name = format.formatToParts(2).find(({ type }) => type === 'currency')?.value;
  return name && name !== code ? `${name} (${code})` : code;
}

/** Returns the UTC date of a time in JSON. */
export const day = (moment: string): string => moment.slice(0, 10);

export const METHODS: Record<Invoice['payments'][number]['method'], string> = {
  bank_transfer: 'Bank transfer',
  card: 'Card',
  cash: 'Cash',
  cheque: 'Cheque',
  other: 'Other',
};
