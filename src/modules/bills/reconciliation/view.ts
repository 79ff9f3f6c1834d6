import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { fieldsOf } from '../../../platform/values/fields.js';
import { numberOrNull } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import { REASONS } from './checked-packages.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { CheckRow } from './check-queries.js';
import type { ExceptionRow } from './exception-queries.js';
import type { FiguresRow } from './figures-queries.js';
import type { Reconciliation } from './reconciliation.js';
import { countOf } from '../../../platform/values/count-of.js';

type Data = DataOf<'getBillingReconciliation'>;
type WeightChange = NonNullable<Data['exceptions'][number]['weight_change']>;

export function viewReconciliation(found: Reconciliation): ReplyOf<'getBillingReconciliation'> {
  const { query, figures, checks, exceptions, nextBefore } = found;
  const total = figures.find((row) => row.is_total);
  if (!total) throw new Error('The figures have no total.');
  const viewed = [
    checkPackages(found.received, total),
    ...BILL_CHECKS.map((name) => viewCheck(name, checks)),
  ];
  const data = {
    from: query.from,
    to: query.to,
    summary: viewFigures(total),
    couriers: figures.filter((row) => !row.is_total).map(viewCourier),
    bills: checks[0]?.bills ?? 0,
    checks: viewed,
    differing_bills: BILL_CHECKS.flatMap((name) => differingBills(name, checks)),
    exceptions: exceptions.map(viewException),
  };
  const meta = { limit: query.limit, next_before: nextBefore };
  return { ...reply(outcomeMessage(total, viewed), data), meta };
}

function outcomeMessage({ packages, exceptions }: FiguresRow, checks: Data['checks']): string {
  const failed = checks.filter(({ ties }) => !ties).length;
  const outcome =
    failed === 0 ? 'Everything ties.' : `${countOf(failed, 'check does', 'checks do')} not tie. See checks.`;
  return `${countOf(packages, 'package')}, ${exceptions} with a reason to look at ${exceptions === 1 ? 'it' : 'them'}. ${outcome}`;
}

// In the order of the contract.
const BILL_CHECKS = [
  'bill_packages',
  'bill_subtotals',
  'bill_taxes',
  'bill_totals',
  'bill_payments',
  'bill_statuses',
] as const satisfies CheckRow['check_name'][];

/** The only check that does not depend on bills: two independent counts of packages must be equal. */
function checkPackages(received: number, total: FiguresRow): Data['checks'][number] {
  const found = total.published_packages + total.draft_packages + total.unbilled_packages;
  return { check: 'packages', expected: received, found, differing: 0, ties: received === found };
}

function viewCheck(name: CheckRow['check_name'], rows: CheckRow[]): Data['checks'][number] {
  const row = rows.find(({ check_name }) => check_name === name);
  // No bill overlaps the period.
  if (!row) return { check: name, expected: 0, found: 0, differing: 0, ties: true };
  const { expected, found, differing } = row;
  return {
    check: name,
    expected: Number(expected),
    found: Number(found),
    differing,
    ties: differing === 0,
  };
}

function differingBills(name: CheckRow['check_name'], rows: CheckRow[]): Data['differing_bills'] {
  const examples = rows.find(({ check_name }) => check_name === name)?.examples ?? [];
  return examples.map(({ bill_id, invoice_number, expected, found }) => ({
    bill_id,
    invoice_number,
    check: name,
    expected: Number(expected),
    found: Number(found),
  }));
}

const viewCourier = (row: FiguresRow): Data['couriers'][number] => ({
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  courier_code: row.courier_code,
  ...viewFigures(row),
});

const viewFigures = (row: FiguresRow): Data['summary'] => ({
  packages_received: row.packages,
  weight: Number(row.weight_lb),
  published: viewSums(row, 'published'),
  drafts: viewSums(row, 'draft'),
  unbilled: viewSums(row, 'unbilled'),
  exceptions: row.exceptions,
  reasons: fieldsOf(REASONS, (reason) => row[reason]),
});

const viewSums = (row: FiguresRow, billing: 'published' | 'draft' | 'unbilled') => ({
  packages: row[`${billing}_packages`],
  weight: Number(row[`${billing}_lb`]),
  fees: Number(row[`${billing}_usd`]),
});

const viewException = (row: ExceptionRow): Data['exceptions'][number] => ({
  package_id: row.package_id,
  tracking_number: row.tracking_number,
  house_number: row.house_number,
  received_at: formatDateTime(row.received_at),
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  weight: Number(row.weight_lb),
  // Without a courier there are no tiers, and without a tier for the weight there is no fee.
  fee: row.courier_id === null ? null : Number(row.fee_usd),
  reasons: row.reasons,
  bill_id: row.bill_id,
  invoice_number: row.invoice_number,
  bill_status: row.bill_status,
  billed_courier_id: row.billed_courier_id,
  billed_weight: numberOrNull(row.billed_lb),
  billed_fee: numberOrNull(row.billed_usd),
  ...(row.received_weight_lb === null
    ? {}
    : { weight_change: viewWeightChange(row, row.received_weight_lb) }),
});

const viewWeightChange = (row: ExceptionRow, receivedLb: string): WeightChange => ({
  before: Number(receivedLb),
  after: Number(row.weight_lb),
  changed_at: row.weight_changed_at && formatDateTime(row.weight_changed_at),
  changed_by: row.weight_changed_by,
});
