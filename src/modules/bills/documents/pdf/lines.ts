import { Decimal } from 'decimal.js';
import type { Invoice, Line } from './invoice.js';
import { spaceLeft, STYLES, startPage, type Sheet } from '../../../../platform/pdf/sheet.js';
import { putTable, type Cell, type Column, type Row } from '../../../../platform/pdf/table.js';
import { day, money, sum } from './format.js';
import { countOf } from '../../../../platform/values/count-of.js';

const columnsOf = (currency: string): Column[] => [
  { title: 'No.', width: 25, isRight: true },
  { title: 'Received', width: 45 },
  { title: 'House no.', width: 45 },
  // The longest tracking number, with 34 digits, fits on one line.
  { title: 'Tracking number', width: 145 },
  { title: 'Customer', width: 60 },
  { title: 'Weight (lb)', width: 48, isRight: true },
  { title: 'Tier', width: 48 },
  { title: `Amount (${currency})`, width: 60, isRight: true },
];

/**
 * The CSV has all texts in full. Couriers choose the codes, and 100 characters that the font does not have, in each of 10,000 lines, had
 * thousands of pages. 255 letters of a number take at most 16 lines.
 */
const [MAX_CODE_LINES, MAX_NUMBER_LINES] = [3, 16];

/** Adds every line of the bill, in order, and their total. */
export function putLineTable(sheet: Sheet, { bill }: Invoice, lines: Line[]): void {
  if (lines.length === 0) return;
  if (spaceLeft(sheet) < 60) startPage(sheet);
  // The same number of decimals in all rows aligns the decimal points.
  const decimals = Math.max(...lines.map(({ weightLb: weight }) => decimalsOf(weight)));
  const rows = lines.map((line) => toRow(line, decimals));
  const label = `Sum of ${countOf(lines.length, 'line')}`;
  const total = money(sum(lines.map(({ amountUsd: amount }) => amount)));
  const last: Row = [
    { column: 1, span: 6, text: label, style: STYLES.strongCell },
    { column: 7, text: total, style: STYLES.strongCell },
  ];
  putTable(sheet, columnsOf(bill.currency), [...rows, last]);
}

const decimalsOf = (weight: string | null): number =>
  weight === null ? 0 : new Decimal(weight).decimalPlaces();

function toRow(line: Line, decimals: number): Row {
  const weight = line.weightLb === null ? '' : new Decimal(line.weightLb).toFixed(decimals);
  return [
    { column: 0, text: String(line.position), style: STYLES.note },
    ...middleOf(line, weight),
    { column: 7, text: money(line.amountUsd) },
  ];
}

function middleOf(line: Line, weight: string): Cell[] {
  switch (line.kind) {
    case 'adjustment':
      return [{ column: 1, span: 6, text: line.description ?? 'Adjustment' }];
    case 'air_freight':
      return [
        { column: 1, span: 4, text: line.description ?? 'Air freight' },
        { column: 5, text: weight },
        { column: 6, text: line.rateUsd === null ? '' : `${money(line.rateUsd)} per lb` },
      ];
    case 'package':
      return [
        { column: 1, text: line.receivedAt === null ? '' : day(line.receivedAt) },
        { column: 2, text: line.houseNumber ?? '' },
        { column: 3, maxLines: MAX_NUMBER_LINES, text: line.trackingNumber ?? '' },
        {
          column: 4,
          maxLines: MAX_CODE_LINES,
          text: line.userCode ?? 'unknown',
          style: line.userCode ? STYLES.cell : STYLES.note,
        },
        { column: 5, text: weight },
        { column: 6, text: line.tier ?? 'none', style: line.tier ? STYLES.cell : STYLES.note },
      ];
  }
}
