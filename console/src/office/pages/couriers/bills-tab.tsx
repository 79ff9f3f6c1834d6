import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { date, money, number, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Table, Tag } from '../../../ui/parts.js';
import { saveFile } from '../../list/export.js';
import { toastFailure } from '../../ui/toasts.js';
import type { TabProps } from '../courier-parts.js';

const SHOWN = 50;

/** The bills of a courier, newest first, each with its files. */
export function BillsTab({ courier: { courier_id } }: TabProps) {
  const [page, setPage] = useState(1);
  const bills = useLoad(
    (signal) => api().billing.listBills({ courier_id, page, limit: SHOWN }, { signal }),
    [courier_id, page],
  );
  const download = (bill_id: string, format: 'pdf' | 'csv') =>
    api()
      .billing.downloadBill({ bill_id, format })
      .then(async (file) => saveFile(await file.blob(), file.filename ?? `bill.${format}`), toastFailure);
  return (
    <Content of={bills}>
      {({ data, meta }) =>
        data.length === 0 ? (
          <Empty title={t('bills.none')}>{t('courierBills.noneHint')}</Empty>
        ) : (
          <>
            <Table
              caption={t('bills.title')}
              rows={data}
              keyOf={({ bill_id }) => bill_id}
              columns={[
                {
                  title: t('bills.number'),
                  cell: ({ invoice_number }) => <span class="mono">{invoice_number}</span>,
                },
                { title: t('common.status'), cell: ({ status }) => <BillTag status={status} /> },
                {
                  title: t('bills.period'),
                  isExtra: true,
                  cell: ({ start_date, end_date }) => `${date(start_date)} – ${date(end_date)}`,
                },
                {
                  title: t('common.packages'),
                  isNumber: true,
                  cell: ({ total_packages }) => number(total_packages),
                },
                {
                  title: t('courierBills.total'),
                  isNumber: true,
                  cell: ({ total_amount }) => money(total_amount),
                },
                { title: t('courierBills.balance'), isNumber: true, cell: ({ balance }) => money(balance) },
                {
                  title: t('bills.documents'),
                  cell: ({ bill_id, invoice_number }) => (
                    <span class="actions">
                      {(['pdf', 'csv'] as const).map((format) => (
                        <button
                          key={format}
                          type="button"
                          class="quiet"
                          onClick={() => void download(bill_id, format)}
                        >
                          {format.toUpperCase()}
                          <span class="unseen"> {invoice_number}</span>
                        </button>
                      ))}
                    </span>
                  ),
                },
              ]}
            />
            {meta.total_pages > 1 && (
              <div class="pager">
                <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
                  {t('common.previous')}
                </button>
                <span>{t('common.page', { page, pages: meta.total_pages })}</span>
                <button type="button" disabled={page >= meta.total_pages} onClick={() => setPage(page + 1)}>
                  {t('common.next')}
                </button>
              </div>
            )}
          </>
        )
      }
    </Content>
  );
}

const BillTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'paid' ? 'good' : status === 'published' ? 'warn' : 'plain'}>
    {textOf('officeBill', status)}
  </Tag>
);
