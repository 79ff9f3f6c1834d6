import { Decimal } from 'decimal.js';
import type { Invoice } from './invoice.js';

/** `1,234.50`, exactly as it is stored. */
export const money = (decimal: string): string =>
  new Decimal(decimal).toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');

/** `4.25`: without zeros at the end. */
export const quantity = (decimal: string): string => new Decimal(decimal).toFixed();

export const sumExactly = (decimals: string[]): string =>
  decimals.reduce((total, each) => total.plus(each), new Decimal(0)).toFixed();

/** Of amounts. */
export const sum = (decimals: string[]): string => new Decimal(sumExactly(decimals)).toFixed(2);

export const difference = (a: string, b: string): string => new Decimal(a).minus(b).toFixed(2);

/** The day, UTC, of a moment as JSON has it. */
export const day = (moment: string): string => moment.slice(0, 10);

export const METHODS: Record<Invoice['payments'][number]['method'], string> = {
  bank_transfer: 'Bank transfer',
  card: 'Card',
  cash: 'Cash',
  cheque: 'Cheque',
  other: 'Other',
};
