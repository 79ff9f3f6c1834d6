import type { BillingRunCourier, BillingRunWarning } from '../../../../../../sdk/typescript/src/index.js';
import { money, number, t, textOf } from '../../../../texts/texts.js';
import { Tag } from '../../../../ui/parts.js';
import { officeLink } from '../../../../ui/router.js';
import type { ListColumn } from '../../../list/table.js';
import { daysOf } from './months.js';

/** What a month has of each courier. Each figure leads to the records that it counts. */
export const runColumns = (month: string): ListColumn<BillingRunCourier>[] => [
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name, courier_code }) => (
      <a class="strong" href={officeLink(['couriers', courier_code, 'bills'])}>
        {courier_name}
      </a>
    ),
    text: ({ courier_name }) => courier_name,
  },
  {
    id: 'code',
    title: t('run.code'),
    cell: ({ courier_code }) => <span class="mono">{courier_code}</span>,
    text: ({ courier_code }) => courier_code,
    isHidden: true,
  },
  {
    id: 'state',
    title: t('common.status'),
    cell: (row) => <Tag tint={TINTS[stateOf(row)] ?? 'plain'}>{textOf('runState', stateOf(row))}</Tag>,
    text: (row) => textOf('runState', stateOf(row)),
  },
  {
    id: 'warnings',
    title: t('run.warnings'),
    cell: ({ warnings, courier_code, courier_id }) =>
      warnings.map((warning) => (
        <a key={warning.message} class="run-warning" href={remedyOf(warning, courier_code, courier_id)}>
          {textOfWarning(warning)}
        </a>
      )),
    text: ({ warnings }) => warnings.map(textOfWarning).join('; '),
  },
  {
    id: 'unbilled_packages',
    title: t('run.unbilled'),
    cell: ({ courier_id, unbilled_packages }) =>
      unbilled_packages > 0 && (
        <a href={officeLink('parcels', { courier: courier_id, billed: 'false', ...daysOf(month) })}>
          {number(unbilled_packages)}
        </a>
      ),
    text: ({ unbilled_packages }) => unbilled_packages,
    isNumber: true,
  },
  {
    id: 'unbilled_amount',
    title: t('run.unbilledAmount'),
    cell: ({ courier_id, unbilled_packages, unbilled_amount }) =>
      unbilled_packages > 0 && (
        <a href={officeLink(['bills', 'month'], { of: courier_id, ...daysOf(month) })}>
          {money(unbilled_amount)}
        </a>
      ),
    text: ({ unbilled_amount }) => unbilled_amount,
    isNumber: true,
  },
  {
    id: 'drafts',
    title: t('run.drafts'),
    cell: (row) => <BillsLink of={row} share="drafts" month={month} />,
    text: ({ drafts }) => drafts.amount,
    isNumber: true,
  },
  {
    id: 'published',
    title: t('run.published'),
    cell: (row) => <BillsLink of={row} share="published" month={month} />,
    text: ({ published }) => published.amount,
    isNumber: true,
  },
  { id: 'mails', title: t('run.mails'), cell: textOfMails, text: textOfMails },
];

const textOfMails = ({ sent_bills: sent, published: { bills } }: BillingRunCourier): string =>
  bills > 0 ? t('run.sentOf', { sent, bills }) : '';

/** Where a warning is solved. */
function remedyOf({ code }: BillingRunWarning, courierCode: string, courierId: string): string {
  if (code === 'rate_gap') return officeLink(['couriers', courierCode, 'rates']);
  if (code === 'address_missing') return officeLink(['couriers', courierCode]);
  return officeLink('announcements', { status: 'flagged', courier: courierId });
}

const TINTS: Record<string, 'good' | 'warn'> = { draft: 'warn', published: 'good', late: 'warn' };

/** `late`: published, but more packages came since. */
const stateOf = ({ state, unbilled_packages }: BillingRunCourier) =>
  state === 'published' && unbilled_packages > 0 ? 'late' : state;

const textOfWarning = ({ code, packages, message }: BillingRunWarning): string =>
  textOf('runWarning', code === 'rate_gap' && packages === 0 ? 'gap_without' : code, message, {
    count: packages,
  });

type LinkProps = { of: BillingRunCourier; share: 'drafts' | 'published'; month: string };

/** The amount of the bills, which leads to the only one, or to the list. */
function BillsLink({ of, share, month }: LinkProps) {
  const { bills: count, amount } = of[share];
  if (count === 0) return null;
  const only =
    count === 1 ? of.bills.find(({ status }) => (status === 'draft') === (share === 'drafts')) : undefined;
  if (only)
    return (
      <a href={officeLink(['bills', only.bill_id])}>
        <span class="unseen">{only.invoice_number} </span>
        {money(amount)}
      </a>
    );
  const status: Record<string, string> = share === 'drafts' ? { status: 'draft' } : {};
  return (
    <a href={officeLink('bills', { courier: of.courier_id, ...status, ...daysOf(month) })}>
      {t('run.several', { amount: money(amount), count })}
    </a>
  );
}
