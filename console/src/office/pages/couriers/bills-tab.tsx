import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { money, number, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Table } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { BillFiles, BillTag, period } from '../bill-parts.js';
import type { TabProps } from '../courier-parts.js';

const SHOWN = 50;

/** The bills of a courier, newest first, each with its files. */
export function BillsTab({ courier: { courier_id } }: TabProps) {
  const [page, setPage] = useState(1);
  const bills = useLoad(
    (signal) => api().billing.listBills({ courier_id, page, limit: SHOWN }, { signal }),
    [courier_id, page],
  );
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
                  cell: ({ bill_id, invoice_number }) => (
                    <a class="mono" href={officeLink(['bills', bill_id])}>
                      {invoice_number}
                    </a>
                  ),
                },
                { title: t('common.status'), cell: ({ status }) => <BillTag status={status} /> },
                {
                  title: t('bills.period'),
                  isExtra: true,
                  cell: period,
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
                  cell: (bill) => <BillFiles bill={bill} />,
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
