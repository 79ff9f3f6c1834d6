import type pg from 'pg';
import { dateBefore, daysBefore } from './values/calendar.js';
import { DEMO } from './demo.js';
import { demoId } from './values/ids.js';
import type { PackageRow } from './packages.js';
import { insertRows, type Row } from './values/rows.js';
import { feeCents, IEX_TIERS, tierLabel } from './tiers.js';

const TAX_PERCENT = 7;
const PERIOD_DAYS = 14;

type Bill = {
  status: keyof typeof DEMO.bills;
  /** Null for a draft. The tenant's counter continues after the highest number. */
  number: number | null;
  firstDaysAgo: number;
  paidCents: 'all' | number;
};

// Three consecutive fortnights. Packages of later days are not billed yet.
const BILLS: Bill[] = [
  { status: 'paid', number: 1, firstDaysAgo: 56, paidCents: 'all' },
  { status: 'published', number: 2, firstDaysAgo: 42, paidCents: 20_000 },
  { status: 'draft', number: null, firstDaysAgo: 28, paidCents: 0 },
];

/**
 * Inserts courier IEX's bills, with a line per package of the fortnight priced by its own tiers, and their payments. Bills are
 * inserted as drafts first, because a published bill accepts no lines.
 */
export async function insertBills(client: pg.ClientBase, packages: PackageRow[], now: Date): Promise<void> {
  const own = packages.filter((row) => row.courier_id === DEMO.couriers.IEX);
  const bills = BILLS.map((bill) => buildBill(bill, own, now));
  await insertRows(
    client,
    'bills',
    bills.map(({ row }) => row),
  );
  await insertRows(
    client,
    'bill_lines',
    bills
      .flatMap(({ lines }) => lines)
      .map((line, n) => ({ ...line, id: demoId('demo', 'billLine', n + 1) })),
  );
  for (const { bill, id, publishedAt, paid } of bills) {
    if (bill.number === null) continue;
    await client.query(
      `update bills set status = $2, invoice_number = $3, sequence_number = $4, published_at = $5, paid_amount = $6
       where id = $1`,
      [id, bill.status, `INV-${String(bill.number).padStart(6, '0')}`, bill.number, publishedAt, paid],
    );
  }
  await insertRows(
    client,
    'bill_payments',
    bills.flatMap(({ payment }) => (payment ? [payment] : [])),
  );
  await insertRows(client, 'bill_counters', [
    { tenant_id: DEMO.tenants.demo, last_number: BILLS.filter(({ number }) => number !== null).length },
  ]);
}

function buildBill(bill: Bill, packages: PackageRow[], now: Date) {
  const { status, firstDaysAgo, paidCents } = bill;
  const id = DEMO.bills[status];
  const lastDaysAgo = firstDaysAgo - PERIOD_DAYS + 1;
  const [startDate, endDate] = [dateBefore(now, firstDaysAgo), dateBefore(now, lastDaysAgo)];
  const billed = packages.filter(({ received_at: receivedAt }) => {
    const date = receivedAt.slice(0, 10);
    return date >= startDate && date <= endDate;
  });
  const subtotal = billed.reduce((sum, parcel) => sum + feeOf(parcel), 0);
  const tax = Math.round((subtotal * TAX_PERCENT) / 100);
  const own = { tenant_id: DEMO.tenants.demo, courier_id: DEMO.couriers.IEX };
  const row: Row = {
    ...own,
    id,
    invoice_number: `DRAFT-${id.slice(-8)}`,
    service_type: 'Air standard',
    start_date: startDate,
    end_date: endDate,
    total_packages: billed.length,
    tax_rate: TAX_PERCENT,
    subtotal: usd(subtotal),
    tax_amount: usd(tax),
    total_amount: usd(subtotal + tax),
    status: 'draft',
    created_at: daysBefore(now, lastDaysAgo - 1, 840),
  };
  const paid = usd(paidCents === 'all' ? subtotal + tax : paidCents);
  const payment: Row | null =
    paidCents === 0
      ? null
      : {
          ...own,
          id: demoId('demo', 'payment', bill.number ?? 0),
          bill_id: id,
          amount_usd: paid,
          method: 'bank_transfer',
          reference: `TRF-${bill.number}`,
          received_on: dateBefore(now, lastDaysAgo - 5),
          recorded_at: daysBefore(now, lastDaysAgo - 5, 900),
        };
  const lines = inOrder(billed).map((parcel, index) => lineOf(parcel, { ...own, bill_id: id }, index + 1));
  return { bill, id, row, lines, payment, paid, publishedAt: daysBefore(now, lastDaysAgo - 1, 900) };
}

const inOrder = (packages: PackageRow[]) =>
  [...packages].sort((a, b) => `${a.received_at}${a.id}`.localeCompare(`${b.received_at}${b.id}`));

const lineOf = (parcel: PackageRow, own: Row, position: number): Row => ({
  ...own,
  position,
  kind: 'package',
  package_id: parcel.id,
  tracking_number: parcel.tracking_number,
  house_number: parcel.house_number,
  user_code: parcel.user_code,
  received_at: parcel.received_at,
  weight_lb: parcel.weight_lb,
  tier: tierLabel(IEX_TIERS, Number(parcel.weight_lb)),
  amount_usd: usd(feeOf(parcel)),
});

const feeOf = ({ weight_lb: weight }: PackageRow) => feeCents(IEX_TIERS, Number(weight));
const usd = (cents: number) => (cents / 100).toFixed(2);
