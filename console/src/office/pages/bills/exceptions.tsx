import { useState } from 'preact/hooks';
import type { ReconciliationReasons } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, money, number, pounds, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Table } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { FactList } from '../../ui/panel.js';
import { ParcelLink, type Month } from '../bill-parts.js';

const SHOWN = 50;

type Props = { month: Month; reasons: ReconciliationReasons };

/** The packages that are on no bill, or that do not match their bill, each with its reasons. */
export function Exceptions({ month: { courier_id, from, to }, reasons }: Props) {
  const [before, setBefore] = useState<string>();
  const exceptions = useLoad(
    (signal) =>
      api().billing.reconciliation(
        { courier_id, from, to, limit: SHOWN, ...(before ? { before } : {}) },
        { signal },
      ),
    [before],
  );
  return (
    <section class="card stack">
      <h2>{t('month.exceptions')}</h2>
      <FactList
        facts={Object.entries(reasons).map(([reason, count]) => [
          textOf('billReason', reason),
          count > 0 ? number(count) : undefined,
        ])}
      />
      <Content of={exceptions}>
        {({ data, meta }) =>
          data.exceptions.length === 0 ? (
            <Empty title={t('month.noExceptions')}>{t('month.noExceptionsHint')}</Empty>
          ) : (
            <>
              <Table
                caption={t('month.exceptions')}
                rows={data.exceptions}
                keyOf={({ package_id }) => package_id}
                columns={[
                  {
                    title: t('common.house'),
                    cell: ({ house_number }) => <ParcelLink house={house_number} />,
                  },
                  {
                    title: t('common.number'),
                    isExtra: true,
                    cell: ({ tracking_number }) => <span class="mono">{tracking_number}</span>,
                  },
                  {
                    title: t('common.receivedAt'),
                    isExtra: true,
                    cell: ({ received_at }) => dateTime(received_at),
                  },
                  { title: t('common.weight'), isNumber: true, cell: ({ weight }) => pounds(weight) },
                  {
                    title: t('rates.fee'),
                    isNumber: true,
                    cell: ({ fee }) => fee !== null && money(fee),
                  },
                  {
                    title: t('month.why'),
                    cell: ({ reasons: why }) => why.map((reason) => textOf('billReason', reason)).join(' · '),
                  },
                  {
                    title: t('bills.number'),
                    isExtra: true,
                    cell: ({ bill_id, invoice_number }) =>
                      bill_id && (
                        <a class="mono" href={officeLink(['bills', bill_id])}>
                          {invoice_number}
                        </a>
                      ),
                  },
                ]}
              />
              <nav class="pager" aria-label={t('list.pages')}>
                {before && (
                  <button type="button" onClick={() => setBefore(undefined)}>
                    {t('common.newest')}
                  </button>
                )}
                {meta.next_before && (
                  <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
                    {t('common.older')}
                  </button>
                )}
              </nav>
            </>
          )
        }
      </Content>
    </section>
  );
}
