import { useState } from 'preact/hooks';
import type { AccountFigures, CourierAccount } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { date, money, number, t } from '../../../texts/texts.js';
import { Figure } from '../../../ui/data/figure.js';
import { Heading } from '../../../ui/parts.js';
import { officeLink, openAddress } from '../../../ui/router.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';

const AGES = ['current', 'days_1_30', 'days_31_60', 'days_61_90', 'days_over_90'] as const;

const statementOf = ({ courier_code }: CourierAccount) => officeLink(['couriers', courier_code, 'statement']);

/** An amount, or nothing if there is none, so that what is owed stands out. */
const owed = (amount: number) => (amount === 0 ? '' : money(amount));

const columns = (): ListColumn<CourierAccount>[] => [
  {
    id: 'courier',
    title: t('common.courier'),
    cell: (row) => (
      <a class="strong" href={statementOf(row)}>
        {row.courier_name}
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
    id: 'balance',
    title: t('accounts.balance'),
    cell: (row) => <a href={statementOf(row)}>{money(row.balance)}</a>,
    text: ({ balance }) => balance,
    isNumber: true,
  },
  {
    id: 'overdue',
    title: t('accounts.overdue'),
    cell: ({ courier_id, overdue }) =>
      overdue > 0 && (
        <a class="strong" href={officeLink('bills', { courier: courier_id, overdue: 'true' })}>
          {money(overdue)}
        </a>
      ),
    text: ({ overdue }) => overdue,
    isNumber: true,
  },
  {
    id: 'unpaid_bills',
    title: t('accounts.unpaid'),
    cell: ({ courier_id, unpaid_bills }) =>
      unpaid_bills > 0 && (
        <a href={officeLink('bills', { courier: courier_id, status: 'published' })}>{number(unpaid_bills)}</a>
      ),
    text: ({ unpaid_bills }) => unpaid_bills,
    isNumber: true,
  },
  ...AGES.map((age): ListColumn<CourierAccount> => ({
    id: age,
    title: t(`accountAge.${age}`),
    cell: ({ due_ageing }) => owed(due_ageing[age]),
    text: ({ due_ageing }) => due_ageing[age],
    isNumber: true,
  })),
  {
    id: 'oldest_due_date',
    title: t('accounts.oldest'),
    cell: ({ oldest_due_date }) => oldest_due_date && date(oldest_due_date),
    text: ({ oldest_due_date }) => oldest_due_date ?? '',
  },
];

/** What each courier owes today, and for how long. The largest overdue amount comes first. */
export function AccountsPage() {
  const [sums, setSums] = useState<{ totals: AccountFigures; as_of: string }>();
  const list = useList('bills', async ({ filters, page }, signal) => {
    const { overdue } = filters;
    const { data, meta } = await api().billing.listStatements(
      { page, limit: PAGE_SIZE, ...(overdue ? { overdue: overdue === 'true' } : {}) },
      { signal },
    );
    setSums({ totals: meta.totals, as_of: meta.as_of });
    return { rows: data, total: meta.total_records };
  });
  return (
    <>
      <p>
        <a href={officeLink('bills')}>{t('bills.title')}</a>
      </p>
      <Heading title={t('accounts.title')} />
      <p class="lead">{t('accounts.lead')}</p>
      {sums && <Totals {...sums} />}
      <DataList
        page="bills/accounts"
        title={t('accounts.title')}
        of={list}
        columns={columns()}
        keyOf={({ courier_id }) => courier_id}
        nameOf={({ courier_name }) => courier_name}
        onOpen={(row) => openAddress(statementOf(row))}
        filters={[
          {
            name: 'overdue',
            label: t('accounts.overdueFilter'),
            options: [
              ['true', t('office.yes')],
              ['false', t('office.no')],
            ],
          },
        ]}
        empty={{ title: t('couriers.none'), hint: t('run.noneHint') }}
      />
    </>
  );
}

/** The sums over all couriers, whatever the list shows. */
const Totals = ({ totals, as_of }: { totals: AccountFigures; as_of: string }) => (
  <dl class="figures run-totals" data-testid="account-totals">
    <Figure title={t('accounts.balance')} note={t('accounts.asOf', { day: date(as_of) })}>
      <a href={officeLink('bills', { status: 'published' })}>{money(totals.balance)}</a>
    </Figure>
    <Figure
      title={t('accounts.overdue')}
      note={t('accounts.over90', { amount: money(totals.due_ageing.days_over_90) })}
    >
      <a href={officeLink('bills', { overdue: 'true' })}>{money(totals.overdue)}</a>
    </Figure>
    <Figure title={t('accounts.unpaid')}>
      <a href={officeLink('bills', { status: 'published' })}>{number(totals.unpaid_bills)}</a>
    </Figure>
  </dl>
);
