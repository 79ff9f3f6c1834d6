import { dateBefore, daysBefore } from './calendar.js';
import { DEMO } from './demo.js';
import type { PackageRow } from './packages.js';
import type { Row } from './rows.js';
import { feeCents, IEX_TIERS } from './tiers.js';

const TAX_PERCENT = 7;
const PERIOD_DAYS = 14;

type Bill = {
  status: keyof typeof DEMO.bills;
  number: string;
  firstDaysAgo: number;
  paidCents: 'all' | number;
};

// Three fortnights in a row; the packages of the days since are not billed yet.
const BILLS: Bill[] = [
  { status: 'paid', number: 'INV-IEX-0001', firstDaysAgo: 56, paidCents: 'all' },
  { status: 'published', number: 'INV-IEX-0002', firstDaysAgo: 42, paidCents: 20_000 },
  { status: 'draft', number: 'INV-IEX-0003', firstDaysAgo: 28, paidCents: 0 },
];

/** Courier IEX's bills: each sums what its packages of that fortnight cost by its own tiers. */
export function billRows(packages: PackageRow[], now: Date): Row[] {
  const own = packages.filter((row) => row.courier_id === DEMO.couriers.IEX);
  return BILLS.map((bill) => billRow(bill, own, now));
}

function billRow({ status, number, firstDaysAgo, paidCents }: Bill, packages: PackageRow[], now: Date): Row {
  const lastDaysAgo = firstDaysAgo - PERIOD_DAYS + 1;
  const [startDate, endDate] = [dateBefore(now, firstDaysAgo), dateBefore(now, lastDaysAgo)];
  const billed = packages.filter(({ received_at: receivedAt }) => {
    const date = receivedAt.slice(0, 10);
    return date >= startDate && date <= endDate;
  });
  const subtotal = billed.reduce(
    (sum, { weight_lb: weight }) => sum + feeCents(IEX_TIERS, Number(weight)),
    0,
  );
  const tax = Math.round((subtotal * TAX_PERCENT) / 100);
  return {
    tenant_id: DEMO.tenants.demo,
    id: DEMO.bills[status],
    invoice_number: number,
    courier_id: DEMO.couriers.IEX,
    service_type: 'Air standard',
    start_date: startDate,
    end_date: endDate,
    total_packages: billed.length,
    subtotal: usd(subtotal),
    tax_amount: usd(tax),
    total_amount: usd(subtotal + tax),
    paid_amount: usd(paidCents === 'all' ? subtotal + tax : paidCents),
    status,
    created_at: daysBefore(now, lastDaysAgo - 1, 840),
  };
}

const usd = (cents: number) => (cents / 100).toFixed(2);
