import { api } from '../../session/session.js';
import { dateTime, number, t, textOf } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Content, Table } from '../../ui/parts.js';

const SHOWN = 100;

/** The parcels of shops' orders that were not announced. Nothing if there are none. */
export function Refusals({ courierId }: { courierId: string | undefined }) {
  const ofCourier = courierId ? { courier_id: courierId } : {};
  const refusals = useLoad(
    (signal) => api().feeds.listRefusals({ limit: SHOWN, ...ofCourier }, { signal }),
    [courierId],
  );
  return (
    <Content of={refusals}>
      {({ data, meta: { total_records: total } }) =>
        data.length > 0 && (
          <section class="stack">
            <h2>{t('feeds.refusals')}</h2>
            <p class="muted">{t('feeds.refusalsHint')}</p>
            <Table
              caption={t('feeds.refusals')}
              rows={data}
              keyOf={({ refusal_id }) => refusal_id}
              columns={[
                { title: t('feeds.order'), cell: ({ reference }) => reference },
                {
                  title: t('feeds.number'),
                  cell: ({ tracking_number }) => <span class="mono break">{tracking_number}</span>,
                },
                { title: t('feeds.reason'), cell: ({ reason }) => textOf('refusal', reason) },
                { title: t('feeds.feed'), isExtra: true, cell: ({ feed_name }) => feed_name },
                { title: t('feeds.refusedAt'), cell: ({ refused_at }) => dateTime(refused_at) },
              ]}
            />
            {total > data.length && (
              <p class="muted">
                {t('feeds.moreRefusals', { shown: number(data.length), total: number(total) })}
              </p>
            )}
          </section>
        )
      }
    </Content>
  );
}
