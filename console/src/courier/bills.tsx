import { useState } from 'preact/hooks';
import type { Bill } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { saveFile } from '../staff/label.js';
import { date, money, number, t, textOf } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Empty, Heading, Problem, Table, Tag } from '../ui/parts.js';

const SHOWN = 100;

export function BillsPage() {
  const bills = useLoad((signal) => api().billing.listBills({ limit: SHOWN }, { signal }), []);
  return (
    <>
      <Heading title={t('bills.title')} />
      <Content of={bills}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('bills.none')}>{t('bills.noneHint')}</Empty>
          ) : (
            <>
              <dl class="figures">
                <div class="figure">
                  <dt>{t('bills.open')}</dt>
                  <dd>{money(data.reduce((sum, { balance }) => sum + balance, 0))}</dd>
                </div>
                <div class="figure">
                  <dt>{t('bills.count')}</dt>
                  <dd>{number(data.length)}</dd>
                </div>
              </dl>
              <Bills rows={data} />
            </>
          )
        }
      </Content>
    </>
  );
}

function Bills({ rows }: { rows: Bill[] }) {
  const [busy, setBusy] = useState<string>();
  const download = useAction(async (bill: Bill, format: 'pdf' | 'csv') => {
    setBusy(bill.bill_id);
    try {
      const file = await api().billing.downloadBill({ bill_id: bill.bill_id, format });
      await saveFile(file, `${bill.invoice_number}.${format}`);
    } finally {
      setBusy(undefined);
    }
  });
  return (
    <>
      <Problem text={download.error} />
      <Table
        caption={t('bills.title')}
        rows={rows}
        keyOf={({ bill_id }) => bill_id}
        columns={[
          {
            title: t('bills.number'),
            cell: ({ invoice_number }) => <span class="mono strong">{invoice_number}</span>,
          },
          {
            title: t('common.status'),
            cell: ({ status }) => (
              <Tag tint={status === 'paid' ? 'good' : 'warn'}>{textOf('bill', status)}</Tag>
            ),
          },
          {
            title: t('bills.period'),
            isExtra: true,
            cell: ({ start_date, end_date }) => `${date(start_date)} – ${date(end_date)}`,
          },
          {
            title: t('common.packages'),
            isNumber: true,
            isExtra: true,
            cell: ({ total_packages }) => number(total_packages),
          },
          {
            title: t('bills.total'),
            isNumber: true,
            isExtra: true,
            cell: ({ total_amount }) => money(total_amount),
          },
          { title: t('bills.balance'), isNumber: true, cell: ({ balance }) => money(balance) },
          {
            title: t('bills.documents'),
            cell: (bill) => (
              <span class="actions">
                {(['pdf', 'csv'] as const).map((format) => (
                  <button
                    key={format}
                    type="button"
                    class="quiet"
                    disabled={busy === bill.bill_id}
                    onClick={() => download.run(bill, format)}
                  >
                    {format.toUpperCase()}
                    <span class="unseen"> {bill.invoice_number}</span>
                  </button>
                ))}
              </span>
            ),
          },
        ]}
      />
    </>
  );
}
