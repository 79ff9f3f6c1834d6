import type { components } from '../../../../generated/contract.js';
import { recordOf } from '../../../platform/contract/record.js';
import { countOf } from '../../../platform/values/count-of.js';
import { gapWarning } from '../../rates/public.js';
import type { BillingRun, RunCourier } from './list.js';
import type { RunBillRow, SumsRow } from './list-queries.js';
import type { RunResult } from './results.js';

type Schemas = components['schemas'];

export const viewTotals = ({
  drafts,
  published,
  ownerless,
}: BillingRun['totals']): Schemas['BillingRunTotals'] => ({
  drafts: viewSums(drafts),
  published: viewSums(published),
  packages_without_owner: ownerless,
});

export function viewCourier(run: RunCourier): Schemas['BillingRunCourier'] {
  const { courier, unbilled, drafts, published, sentBills } = run;
  return {
    ...recordOf(courier),
    state: stateOf(run),
    unbilled_packages: unbilled.packages,
    unbilled_amount: Number(unbilled.amount),
    drafts: viewSums(drafts),
    published: viewSums(published),
    sent_bills: sentBills,
    unsent_bills: unsentOf(run),
    bills: run.bills.map(viewBill),
    warnings: warningsOf(run),
  };
}

function stateOf({ drafts, published }: RunCourier): Schemas['BillingRunCourier']['state'] {
  if (drafts.bills > 0) return 'draft';
  return published.bills > 0 ? 'published' : 'nothing';
}

const unsentOf = ({ published, sentBills }: RunCourier) => published.bills - sentBills;

function warningsOf(run: RunCourier): Schemas['BillingRunWarning'][] {
  const { unbilled, disputed, hasAddress } = run;
  const warnings: Schemas['BillingRunWarning'][] = unbilled.gaps.map((gap) => ({
    code: 'rate_gap',
    packages: gap.packages,
    message: gapWarning(gap),
  }));
  if (disputed > 0) {
    const message = `${countOf(disputed, 'package')}: another courier has announced it too.`;
    warnings.push({ code: 'disputed', packages: disputed, message });
  }
  if (!hasAddress && unsentOf(run) > 0)
    warnings.push({ code: 'address_missing', packages: 0, message: ADDRESS_MISSING });
  return warnings;
}

const ADDRESS_MISSING =
  'The courier has no usable e-mail address. Set email in its profile before you send its bills.';

const viewSums = ({ bills, amount }: SumsRow): Schemas['BillingRunSums'] => ({
  bills,
  amount: Number(amount),
});

const viewBill = ({ courierId: _, ...row }: RunBillRow): Schemas['BillingRunBill'] =>
  recordOf(row, ['totalAmount']);

export const viewResult = ({
  courierId,
  courier,
  bills,
  ...result
}: RunResult): Schemas['BillingRunResult'] => ({
  courier_id: courierId,
  courier_name: courier?.courierName ?? null,
  courier_code: courier?.courierCode ?? null,
  ...result,
  bills: bills.map(viewBill),
});
