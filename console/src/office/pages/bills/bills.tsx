import type { Bill } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { loadRunTexts } from '../../../texts/on-use/run.js';
import { date, dateTime, money, number, t, textOf } from '../../../texts/texts.js';
import { Heading, Tag } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { BillFiles, BillTag, period } from '../bill-parts.js';
import { AccountsPage } from './accounts.js';
import { BillPage } from './bill.js';
import { MAIL_TINTS } from './mails.js';
import { MonthPage } from './month.js';
import { RunPage } from './run/run.js';

const STATUSES = ['draft', 'published', 'paid'] as const;

const columns = (): ListColumn<Bill>[] => [
  {
    id: 'invoice_number',
    title: t('bills.number'),
    cell: ({ bill_id, invoice_number }) => (
      <a class="mono strong" href={officeLink(['bills', bill_id])}>
        {invoice_number}
      </a>
    ),
    text: ({ invoice_number }) => invoice_number,
  },
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name,
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <BillTag status={status} />,
    text: ({ status }) => textOf('officeBill', status),
  },
  {
    id: 'mail_status',
    title: t('billMail.column'),
    cell: ({ mail_status }) =>
      mail_status && (
        <Tag tint={MAIL_TINTS[mail_status] ?? 'plain'}>{textOf('billMailStatus', mail_status)}</Tag>
      ),
    text: ({ mail_status }) => (mail_status ? textOf('billMailStatus', mail_status) : ''),
  },
  { id: 'period', title: t('bills.period'), cell: period, text: period },
  {
    id: 'service_type',
    title: t('billPage.service'),
    cell: ({ service_type }) => service_type,
    text: ({ service_type }) => service_type,
    isHidden: true,
  },
  {
    id: 'total_packages',
    title: t('common.packages'),
    cell: ({ total_packages }) => number(total_packages),
    text: ({ total_packages }) => total_packages,
    isNumber: true,
  },
  {
    id: 'total_amount',
    title: t('courierBills.total'),
    cell: ({ total_amount }) => money(total_amount),
    text: ({ total_amount }) => total_amount,
    isNumber: true,
  },
  {
    id: 'balance',
    title: t('billPage.balance'),
    // The amount of a draft is not due.
    cell: ({ status, balance }) => (status === 'draft' ? '' : money(balance)),
    text: ({ status, balance }) => (status === 'draft' ? '' : balance),
    isNumber: true,
  },
  {
    id: 'due_date',
    title: t('billPage.due'),
    cell: ({ due_date, is_overdue }) =>
      due_date && (
        <>
          {date(due_date)} {is_overdue && <Tag tint="bad">{t('billPage.overdue')}</Tag>}
        </>
      ),
    text: ({ due_date }) => due_date ?? '',
  },
  {
    id: 'published_at',
    title: t('billPage.published'),
    cell: ({ published_at }) => published_at && dateTime(published_at),
    text: ({ published_at }) => published_at ?? '',
  },
  {
    id: 'created_at',
    title: t('billPage.drafted'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    isHidden: true,
  },
  {
    id: 'files',
    title: t('bills.documents'),
    cell: (bill) => <BillFiles bill={bill} />,
    text: () => '',
    isHidden: true,
  },
];

async function load({ filters, page }: ListState, signal: AbortSignal) {
  const { courier, status, overdue, from, to } = filters;
  const { data, meta } = await api().billing.listBills(
    {
      page,
      limit: PAGE_SIZE,
      ...(courier ? { courier_id: courier } : {}),
      // A status from elsewhere is refused by the service.
      ...(status ? { status: status as 'draft' } : {}),
      ...(overdue ? { overdue: overdue === 'true' } : {}),
      ...(from ? { from } : {}),
      ...(to ? { to } : {}),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** The page with its texts. */
export async function loadBillsPage() {
  await loadRunTexts();
  return BillsPage;
}

/** The bills of all couriers; a bill; the month of one courier or of all before their bills; and what each owes. */
function BillsPage() {
  const argument = officeAddress.value?.argument;
  if (argument === 'month') return <MonthPage />;
  if (argument === 'run') return <RunPage />;
  if (argument === 'accounts') return <AccountsPage />;
  if (argument) return <BillPage key={argument} id={argument} />;
  return <BillList />;
}

function BillList() {
  const list = useList('bills', load);
  const couriers = useCouriers();
  return (
    <>
      <Heading title={t('bills.title')}>
        <a class="button" href={officeLink(['bills', 'accounts'])}>
          {t('accounts.title')}
        </a>
        <a class="button" href={officeLink(['bills', 'month'])}>
          {t('month.new')}
        </a>
        <a class="button primary" href={officeLink(['bills', 'run'])}>
          {t('run.title')}
        </a>
      </Heading>
      <DataList
        page="bills"
        title={t('bills.title')}
        of={list}
        columns={columns()}
        keyOf={({ bill_id }) => bill_id}
        nameOf={({ invoice_number }) => invoice_number}
        onOpen={({ bill_id }) => openAddress(officeLink(['bills', bill_id]))}
        filters={[
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
          {
            name: 'status',
            label: t('common.status'),
            options: STATUSES.map((status) => [status, t(`officeBill.${status}`)]),
          },
          {
            name: 'overdue',
            label: t('billPage.overdue'),
            options: [
              ['true', t('office.yes')],
              ['false', t('office.no')],
            ],
          },
          { name: 'from', label: t('billPage.periodFrom'), type: 'date' },
          { name: 'to', label: t('billPage.periodTo'), type: 'date' },
        ]}
        empty={{ title: t('bills.none'), hint: t('billPage.noneHint') }}
      />
    </>
  );
}
