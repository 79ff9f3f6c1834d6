import { groupBy } from '../../../../platform/values/group-by.js';
import type { Invoice, Line, Payment } from './invoice.js';
import {
  INK,
  LEFT,
  lineHeight,
  putLines,
  putRule,
  putText,
  RIGHT,
  spaceLeft,
  STYLES,
  startPage,
  type Sheet,
  type Style,
} from '../../../../platform/pdf/sheet.js';
import { putTable, type Column, type Row } from '../../../../platform/pdf/table.js';
import { day, difference, METHODS, money, quantity, sum, sumExactly } from './format.js';

const chargeColumns = (currency: string): Column[] => [
  { title: 'Charges', width: 293 },
  { title: 'Count', width: 60, isRight: true },
  { title: `Fee (${currency})`, width: 70, isRight: true },
  { title: `Amount (${currency})`, width: 85, isRight: true },
];

const paymentColumns = (currency: string): Column[] => [
  { title: 'Payments', width: 70 },
  { title: 'Method', width: 90 },
  { title: 'Reference', width: 263 },
  { title: `Amount (${currency})`, width: 85, isRight: true },
];

/** Adds the totals per tier, the payments and the amount due. */
export function putSummary(sheet: Sheet, invoice: Invoice, lines: Line[]): void {
  const { bill, payments } = invoice;
  putTable(sheet, chargeColumns(bill.currency), chargesOf(lines));
  putTotals(
    sheet,
    [
      ['Subtotal', bill.subtotal],
      [`Tax (${quantity(bill.taxRate)}%)`, bill.taxAmount],
      ['Total', bill.totalAmount],
    ],
    bill.currency,
  );
  if (payments.length > 0) {
    sheet.y += 6;
    putTable(sheet, paymentColumns(bill.currency), payments.map(paymentRow));
  }
  putTotals(
    sheet,
    [
      ['Paid', bill.paidAmount],
      ['Balance due', difference(bill.totalAmount, bill.paidAmount)],
    ],
    bill.currency,
  );
  putRemarks(sheet, bill.remarks);
  sheet.y += 14;
}

function chargesOf(lines: Line[]): Row[] {
  const packages = lines.filter(({ kind }) => kind === 'package');
  const byTier = groupBy(packages, ({ tier, amountUsd }) => JSON.stringify([tier, amountUsd]));
  const tiers = [...byTier.values()].sort((a, b) => lightest(a) - lightest(b));
  const rows = tiers.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const name = first.tier ? `Packages, ${first.tier}` : 'Packages outside all tiers';
    return [charge(name, group, { count: group.length, fee: money(first.amountUsd) })];
  });
  const freight = lines.filter(({ kind }) => kind === 'air_freight');
  const pounds = quantity(sumExactly(freight.map(({ weightLb: weight }) => weight ?? '0')));
  if (freight.length > 0) rows.push(charge(`Air freight, ${pounds} lb`, freight));
  const adjustments = lines.filter(({ kind }) => kind === 'adjustment');
  if (adjustments.length > 0) rows.push(charge('Adjustments', adjustments, { count: adjustments.length }));
  return rows;
}

const lightest = (group: Line[]): number =>
  group.reduce((least, { weightLb: weight }) => Math.min(least, Number(weight)), Infinity);

const charge = (
  name: string,
  lines: Line[],
  { count, fee = '' }: { count?: number; fee?: string } = {},
): Row => [
  { column: 0, text: name },
  { column: 1, text: count === undefined ? '' : String(count) },
  { column: 2, text: fee },
  { column: 3, text: money(sum(lines.map(({ amountUsd: amount }) => amount))) },
];

/** A voided payment is printed struck through, so that a reader of an earlier copy can see the change. */
function paymentRow({ receivedOn, method, reference, amountUsd, voidedAt }: Payment): Row {
  const isStruck = voidedAt !== null;
  const style = isStruck ? STYLES.note : STYLES.cell;
  const note = [reference ?? '', voidedAt ? `Voided on ${day(voidedAt)}` : ''].filter(Boolean).join('. ');
  return [
    { column: 0, text: receivedOn, style, isStruck },
    { column: 1, text: METHODS[method], style, isStruck },
    { column: 2, text: note, style },
    { column: 3, text: money(amountUsd), style, isStruck },
  ];
}

/** The last total is the sum of the others. */
function putTotals(sheet: Sheet, totals: [name: string, amount: string][], currency: string): void {
  const height = totals.length * (lineHeight(STYLES.due) + 2) + 8;
  if (height > spaceLeft(sheet)) startPage(sheet);
  sheet.y += 5;
  for (const [index, [name, amount]] of totals.entries()) {
    const isLast = index === totals.length - 1;
    const style: Style = isLast ? STYLES.due : STYLES.body;
    if (isLast) putRule(sheet, sheet.y - 0.5, RIGHT - 220, 220, INK.strong, 0.8);
    if (isLast) sheet.y += 3;
    putText(sheet, isLast ? `${name} (${currency})` : name, { x: RIGHT - 220, y: sheet.y }, style);
    putText(sheet, money(amount), { x: RIGHT, y: sheet.y, isRight: true, maxWidth: 100 }, style);
    sheet.y += lineHeight(style) + 1.5;
  }
}

function putRemarks(sheet: Sheet, remarks: string | null): void {
  if (!remarks?.trim()) return;
  for (const [index, paragraph] of remarks
    .trim()
    .split(/\r\n|[\r\n]/)
    .entries()) {
    if (index === 0) {
      if (spaceLeft(sheet) < 40) startPage(sheet);
      sheet.y += 8;
      putText(sheet, 'Remarks', { x: LEFT, y: sheet.y }, STYLES.heading);
      sheet.y += 12;
    }
    sheet.y = putLines(sheet, paragraph, { x: LEFT, y: sheet.y, width: RIGHT - LEFT }, STYLES.body);
  }
}
