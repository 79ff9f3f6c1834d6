import { useState } from 'preact/hooks';
import type { GetCourierStatementResponse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { date, money, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Field, Table } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { csvOf, type FileColumn } from '../../list/csv.js';
import { saveFile } from '../../list/export.js';
import { FactList } from '../../ui/panel.js';
import type { TabProps } from '../courier-parts.js';
import { utcDay } from '../../../ui/data/days.js';

const SHOWN = 200;

type Movement = GetCourierStatementResponse['data']['movements'][number];

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);

export const StatementTab = ({ courier: { courier_id } }: TabProps) => (
  <Statement courierId={courier_id} linkOf={(id) => officeLink(['bills', id])} />
);

type Props = {
  courierId: string;
  /** Returns the address of a bill. */
  linkOf: (billId: string) => string;
};

/** What a courier owes: the movements of a period, and the age of what is unpaid. Amounts are in the currency of the instance. */
export function Statement({ courierId: courier_id, linkOf }: Props) {
  const [from, setFrom] = useState(`${utcDay().slice(0, 4)}-01-01`);
  const [to, setTo] = useState(utcDay());
  const isPeriod = isDay(from) && isDay(to);
  const statement = useLoad(
    async (signal) =>
      isPeriod
        ? await api().billing.statement({ courier_id, from, to, limit: SHOWN }, { signal })
        : undefined,
    [courier_id, isPeriod ? `${from} ${to}` : ''],
  );
  return (
    <section class="stack">
      <div class="list-tools">
        <Field label={t('office.from')} type="date" value={from} onValue={setFrom} />
        <Field label={t('office.to')} type="date" value={to} onValue={setTo} />
      </div>
      <Content of={statement}>
        {(reply) =>
          reply && (
            <div class="stack">
              <FactList
                facts={[
                  [t('statement.opening'), money(reply.data.opening_balance)],
                  [t('statement.billed'), money(reply.data.billed)],
                  [t('statement.paid'), money(reply.data.paid)],
                  [t('statement.voided'), reply.data.voided ? money(reply.data.voided) : undefined],
                  [
                    t('statement.closing'),
                    <strong key="closing">{money(reply.data.closing_balance)}</strong>,
                  ],
                ]}
              />
              <h2>{t('statement.ageing')}</h2>
              <FactList
                facts={[
                  [t('statement.days30'), money(reply.data.ageing.days_0_30)],
                  [t('statement.days60'), money(reply.data.ageing.days_31_60)],
                  [t('statement.days90'), money(reply.data.ageing.days_61_90)],
                  [t('statement.daysOver'), money(reply.data.ageing.days_over_90)],
                  [
                    t('statement.credit'),
                    reply.data.ageing.credit ? money(reply.data.ageing.credit) : undefined,
                  ],
                ]}
              />
              {reply.data.movements.length === 0 ? (
                <Empty title={t('statement.none')} />
              ) : (
                <Table
                  caption={t('courierTab.statement')}
                  rows={reply.data.movements}
                  keyOf={({ bill_id, payment_id, kind }) => `${kind} ${bill_id} ${payment_id}`}
                  columns={[
                    { title: t('office.date'), cell: (row) => <span class="nowrap">{date(row.date)}</span> },
                    { title: t('office.kind'), cell: ({ kind }) => textOf('movement', kind) },
                    {
                      title: t('bills.number'),
                      cell: ({ bill_id, invoice_number }) => (
                        <a class="mono" href={linkOf(bill_id)}>
                          {invoice_number}
                        </a>
                      ),
                    },
                    { title: t('statement.reference'), isExtra: true, cell: ({ reference }) => reference },
                    { title: t('statement.amount'), isNumber: true, cell: ({ amount }) => money(amount) },
                    {
                      title: t('courierBills.balance'),
                      isNumber: true,
                      cell: ({ balance }) => money(balance),
                    },
                  ]}
                />
              )}
              {reply.data.movements.length > 0 && (
                <div class="actions">
                  <button
                    type="button"
                    onClick={() =>
                      saveFile(csvOf(fileColumns(), reply.data.movements), `statement-${from}-${to}.csv`)
                    }
                  >
                    {t('statement.export')}
                  </button>
                </div>
              )}
              {reply.meta.total_pages > 1 && (
                <p class="notice">{t('statement.cut', { count: SHOWN, total: reply.meta.total_records })}</p>
              )}
            </div>
          )
        }
      </Content>
    </section>
  );
}

/** The columns of the file: days as the contract has them, and amounts as numbers. */
const fileColumns = (): FileColumn<Movement>[] => [
  { title: t('office.date'), text: (row) => row.date },
  { title: t('office.kind'), text: ({ kind }) => textOf('movement', kind) },
  { title: t('bills.number'), text: ({ invoice_number }) => invoice_number },
  { title: t('statement.reference'), text: ({ reference }) => reference ?? '' },
  { title: t('statement.amount'), isNumber: true, text: ({ amount }) => amount },
  { title: t('courierBills.balance'), isNumber: true, text: ({ balance }) => balance },
];
