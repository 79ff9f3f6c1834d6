import { Decimal } from 'decimal.js';
import { spaceLeft, startPage, STYLES, type Sheet } from '../../../../platform/pdf/sheet.js';
import { putTable, type Cell, type Column, type Row } from '../../../../platform/pdf/table.js';
import { countOf } from '../../../../platform/values/count-of.js';
import type { Figures, Line, ManifestDocument } from './manifest.js';

const COURIERS: Column[] = [
  { title: 'Courier', width: 308 },
  { title: 'Pieces', width: 50, isRight: true },
  { title: 'Weight (lb)', width: 70, isRight: true },
  { title: 'Weight (kg)', width: 80, isRight: true },
];

const LINES: Column[] = [
  { title: 'No.', width: 23, isRight: true },
  { title: 'House no.', width: 46 },
  // A tracking number of 22 digits fits on one line.
  { title: 'Tracking number', width: 106 },
  { title: 'Courier', width: 38 },
  { title: 'Customer', width: 86 },
  { title: 'Pcs', width: 16, isRight: true },
  { title: 'lb', width: 36, isRight: true },
  { title: 'kg', width: 38, isRight: true },
  { title: 'Contents', width: 79 },
];

/** CSV and XLSX have all texts in full. Couriers choose them, and each of 10,000 lines could take a page. */
const MAX_LINES = { number: 16, courier: 2, customer: 4, contents: 3 };

/** Statuses of packages that fly, or have flown, with their manifest. */
const REGULAR = new Set<Line['status']>(['received', 'shipped', 'in_transit', 'delivered']);

/** Formats a weight, or a number of pieces, with thousands separators and this many decimals. */
export const decimal = (value: string | number, decimals: number): string =>
  Number(value).toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** Adds the totals of each courier. */
export function putCourierTable(sheet: Sheet, { couriers, total }: ManifestDocument): void {
  if (couriers.length === 0) return;
  const decimals = decimalsOf(couriers.map(({ weightLb }) => weightLb));
  const rows = couriers.map(({ name, ...figures }): Row => [
    { column: 0, text: name, maxLines: 2 },
    ...figureCells(figures, 1, decimals),
  ]);
  const last = [{ column: 0, text: 'Total' }, ...figureCells(total, 1, decimals)].map(strong);
  putTable(sheet, COURIERS, [...rows, last]);
  sheet.y += 14;
}

const strong = (cell: Cell): Cell => ({ ...cell, style: STYLES.strongCell });

/** The same number of decimals in all rows aligns the decimal points. Pounds have two or three. */
const decimalsOf = (pounds: string[]): number =>
  pounds.reduce((most, each) => Math.max(most, new Decimal(each).decimalPlaces()), 2);

const figureCells = ({ pieces, weightLb, weightKg }: Figures, column: number, decimals: number): Row => [
  { column, text: decimal(pieces, 0) },
  { column: column + 1, text: decimal(weightLb, decimals) },
  { column: column + 2, text: decimal(weightKg, 3) },
];

/** Adds every line of the manifest, in order, and their total. */
export function putLineTable(sheet: Sheet, lines: Line[], total: Figures): void {
  if (lines.length === 0) return;
  if (spaceLeft(sheet) < 60) startPage(sheet);
  const label = `Sum of ${countOf(lines.length, 'package')}`;
  const decimals = decimalsOf(lines.map((line) => line.weight_lb));
  const last = [{ column: 1, span: 4, text: label }, ...figureCells(total, 5, decimals)].map(strong);
  putTable(sheet, LINES, [...lines.map((line, index) => toRow(line, index, decimals)), last]);
}

function toRow(line: Line, index: number, decimals: number): Row {
  const { weight_lb: weightLb, weight_kg: weightKg } = line;
  return [
    { column: 0, text: String(index + 1), style: STYLES.note },
    { column: 1, text: line.house_number },
    { column: 2, text: line.tracking_number, maxLines: MAX_LINES.number },
    { column: 3, text: line.courier_code ?? 'unknown', maxLines: MAX_LINES.courier },
    { column: 4, text: customerOf(line), maxLines: MAX_LINES.customer },
    ...figureCells({ pieces: 1, weightLb, weightKg }, 5, decimals),
    { column: 8, text: contentsOf(line), maxLines: MAX_LINES.contents },
  ];
}

const customerOf = ({ user_code: code, first_name: first, last_name: last }: Line): string =>
  [code ?? 'unknown', [first, last].filter(Boolean).join(' ')].filter(Boolean).join(', ');

/** A package that does not fly says so. */
const contentsOf = ({ status, shipper, description }: Line): string =>
  [REGULAR.has(status) ? null : status.replaceAll('_', ' ').toUpperCase(), shipper, description]
    .filter((text) => text?.trim())
    .join('. ');
