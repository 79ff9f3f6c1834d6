import type { Bill } from '../../../../sdk/typescript/src/index.js';
import type { ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { api } from '../../session/session.js';
import { date, dateTime, money, number, t, textOf } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { PageTabs } from '../ui/page-tabs.js';
import { BillTag } from './bill-tag.js';
import { BillView } from './bill-view.js';
import { Documents } from './documents.js';

const STATUSES = ['published', 'paid'] as const;

const columns = (): ListColumn<Bill>[] => [
  {
    id: 'invoice_number',
    title: t('bills.number'),
    cell: ({ bill_id, invoice_number }) => (
      <a class="mono strong" href={linkTo('bills', bill_id)}>
        {invoice_number}
      </a>
    ),
    text: ({ invoice_number }) => invoice_number,
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <BillTag status={status} />,
    text: ({ status }) => textOf('officeBill', status),
  },
  {
    id: 'balance',
    title: t('myBill.toPay'),
    cell: ({ balance }) => money(balance),
    text: ({ balance }) => balance,
    isNumber: true,
  },
  {
    id: 'period',
    title: t('bills.period'),
    cell: ({ start_date, end_date }) => `${date(start_date)} – ${date(end_date)}`,
    text: ({ start_date, end_date }) => `${start_date} – ${end_date}`,
  },
  {
    id: 'published_at',
    title: t('myBill.published'),
    cell: ({ published_at }) => published_at && dateTime(published_at),
    text: ({ published_at }) => published_at ?? '',
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
  { id: 'documents', title: t('bills.documents'), cell: (bill) => <Documents of={bill} />, text: () => '' },
];

async function load({ filters, page }: ListState, signal: AbortSignal) {
  const status = STATUSES.find((each) => each === filters['status']);
  const { from, to, overdue } = filters;
  const { data, meta } = await api().billing.listBills(
    {
      page,
      limit: PAGE_SIZE,
      ...(status ? { status } : {}),
      ...(overdue ? { overdue: overdue === 'true' } : {}),
      ...(from ? { from } : {}),
      ...(to ? { to } : {}),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** The bills of a courier, or one of them. */
export function BillsPage() {
  const { argument } = route.value;
  return argument ? <BillView key={argument} billId={argument} /> : <BillList />;
}

function BillList() {
  const list = useHashList('bills', load);
  return (
    <>
      <Heading title={t('bills.title')} />
      <PageTabs of="bills" />
      <DataList
        page="bills"
        title={t('bills.title')}
        of={list}
        columns={columns()}
        keyOf={({ bill_id }) => bill_id}
        nameOf={({ invoice_number }) => invoice_number}
        onOpen={({ bill_id }) => openAddress(linkTo('bills', bill_id))}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: STATUSES.map((each) => [each, t(`officeBill.${each}`)]),
          },
          {
            name: 'overdue',
            label: t('accounts.overdueFilter'),
            options: [
              ['true', t('office.yes')],
              ['false', t('office.no')],
            ],
          },
          { name: 'from', label: t('office.from'), type: 'date' },
          { name: 'to', label: t('office.to'), type: 'date' },
        ]}
        empty={{ title: t('bills.none'), hint: t('bills.noneHint') }}
      />
    </>
  );
}
