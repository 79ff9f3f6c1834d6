import { useState } from 'preact/hooks';
import type { BillDetail, BillLine, BillPayment } from '../../../../sdk/typescript/src/index.js';
import { FactList } from '../../office/ui/panel.js';
import { api } from '../../session/session.js';
import { date, dateTime, money, number, pounds, t, textOf } from '../../texts/texts.js';
import { Code } from '../../ui/code.js';
import { useLoad } from '../../ui/load.js';
import { Content, Empty, Heading, Table } from '../../ui/parts.js';
import { isId, linkTo } from '../../ui/router.js';
import { BillTag } from './bill-tag.js';
import { Documents } from './documents.js';

const LINES = 100;

/** A bill: its sums, its lines with their parcels, and its payments. */
export function BillView({ billId }: { billId: string }) {
  const [page, setPage] = useState(1);
  const bill = useLoad(
    async (signal) =>
      isId(billId)
        ? await api().billing.bill({ bill_id: billId, page, limit: LINES }, { signal })
        : undefined,
    [billId, page],
  );
  const data = bill.data?.data;
  return (
    <>
      <p>
        <a href={linkTo('bills')}>‹ {t('bills.title')}</a>
      </p>
      <Heading title={data ? t('myBill.title', { number: data.invoice_number }) : t('bills.number')}>
        {data && <Documents of={data} />}
      </Heading>
      <Content of={bill}>
        {(reply) =>
          reply && (
            <>
              <Sums of={reply.data} />
              <Lines rows={reply.data.lines} />
              {reply.meta.total_pages > 1 && (
                <div class="pager">
                  <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
                    {t('common.previous')}
                  </button>
                  <span>{t('common.page', { page, pages: reply.meta.total_pages })}</span>
                  <button
                    type="button"
                    disabled={page >= reply.meta.total_pages}
                    onClick={() => setPage(page + 1)}
                  >
                    {t('common.next')}
                  </button>
                </div>
              )}
              <Payments rows={reply.data.payments} />
            </>
          )
        }
      </Content>
      {!isId(billId) && <Empty title={t('myBill.unknown')} />}
    </>
  );
}

const Sums = ({ of }: { of: BillDetail }) => (
  <section class="card stack" aria-label={t('myBill.sums')}>
    <FactList
      facts={[
        [t('common.status'), <BillTag key="status" status={of.status} />],
        [t('bills.period'), `${date(of.start_date)} – ${date(of.end_date)}`],
        [t('myBill.published'), of.published_at && dateTime(of.published_at)],
        [t('common.packages'), number(of.total_packages)],
        [t('myBill.subtotal'), money(of.subtotal)],
        [t('myBill.tax', { rate: number(of.tax_rate) }), money(of.tax_amount)],
        [t('courierBills.total'), money(of.total_amount)],
        [t('myBill.paid'), money(of.paid_amount)],
        [t('myBill.toPay'), <strong key="balance">{money(of.balance)}</strong>],
        [t('myBill.remarks'), of.remarks],
        [t('myBill.from'), [of.bill_from.name, ...of.bill_from.address].join(', ')],
      ]}
    />
  </section>
);

const nameOf = ({ kind, description, tier }: BillLine): string =>
  [textOf('myBillLine', kind), description, tier].filter(Boolean).join(' · ');

const Lines = ({ rows }: { rows: BillLine[] }) => (
  <section class="section">
    <h2>{t('myBill.lines')}</h2>
    <Table
      caption={t('myBill.lines')}
      rows={rows}
      keyOf={({ line_id }) => line_id}
      columns={[
        {
          title: t('myBill.position'),
          isNumber: true,
          isExtra: true,
          cell: ({ position }) => number(position),
        },
        { title: t('myBill.what'), cell: nameOf },
        {
          title: t('common.house'),
          cell: ({ house_number }) =>
            house_number && (
              <a class="mono strong" href={linkTo('parcels', house_number)}>
                {house_number}
              </a>
            ),
        },
        {
          title: t('common.number'),
          isExtra: true,
          cell: ({ tracking_number }) => <Code text={tracking_number} />,
        },
        { title: t('common.customer'), isExtra: true, cell: ({ user_code }) => user_code },
        {
          title: t('common.receivedAt'),
          isExtra: true,
          cell: ({ received_at }) => received_at && dateTime(received_at),
        },
        {
          title: t('common.weight'),
          isNumber: true,
          isExtra: true,
          cell: ({ weight }) => weight !== null && pounds(weight),
        },
        { title: t('statement.amount'), isNumber: true, cell: ({ amount }) => money(amount) },
      ]}
    />
  </section>
);

const Payments = ({ rows }: { rows: BillPayment[] }) => (
  <section class="section">
    <h2>{t('myBill.payments')}</h2>
    {rows.length === 0 ? (
      <p class="muted">{t('myBill.noPayments')}</p>
    ) : (
      <Table
        caption={t('myBill.payments')}
        rows={rows}
        keyOf={({ payment_id }) => payment_id}
        columns={[
          { title: t('office.date'), cell: ({ received_on }) => date(received_on) },
          { title: t('myBill.method'), cell: ({ method }) => textOf('payBy', method) },
          { title: t('statement.reference'), cell: ({ reference }) => reference },
          { title: t('statement.amount'), isNumber: true, cell: ({ amount }) => money(amount) },
          {
            title: t('common.status'),
            cell: ({ is_voided, void_reason }) =>
              is_voided ? [t('myBill.voided'), void_reason].filter(Boolean).join(': ') : t('myBill.counts'),
          },
        ]}
      />
    )}
  </section>
);
