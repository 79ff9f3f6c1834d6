import { single } from '../../../../device/single.js';
import { api } from '../../../../session/session.js';
import { dateTime, number, t, textOf } from '../../../../texts/texts.js';
import { useAction, useLoad } from '../../../../ui/load.js';
import { Content, Problem, Table, Tag } from '../../../../ui/parts.js';
import { toast } from '../../../ui/toasts.js';

const MOST = 50;

/** The webhooks of a parcel, with what the courier's system has answered. */
export function Deliveries({ packageId, round }: { packageId: string; round: number }) {
  const deliveries = useLoad(
    async (signal) =>
      (await api().webhooks.listDeliveries({ package_id: packageId, limit: MOST }, { signal })).data,
    [packageId, round],
  );
  const again = useAction(async (delivery_id: string) => {
    await api().webhooks.manageDeliveries({ action: 'redeliver', delivery_id });
    toast(t('parcel.redelivered'));
    deliveries.reload();
  });
  return (
    <Content of={deliveries}>
      {(rows) =>
        rows.length === 0 ? (
          <p class="muted">{t('parcel.noWebhooks')}</p>
        ) : (
          <>
            <Problem text={again.error} />
            <Table
              caption={t('parcel.webhooks')}
              rows={rows}
              keyOf={({ delivery_id }) => delivery_id}
              columns={[
                { title: t('webhooks.at'), cell: ({ created_at }) => dateTime(created_at) },
                { title: t('webhooks.type'), cell: ({ type }) => <span class="mono">{type}</span> },
                {
                  title: t('common.status'),
                  cell: ({ status }) => (
                    <Tag tint={status === 'delivered' ? 'good' : status === 'failed' ? 'bad' : 'plain'}>
                      {textOf('delivery', status)}
                    </Tag>
                  ),
                },
                {
                  title: t('webhooks.attempts'),
                  isNumber: true,
                  cell: ({ attempt_count }) => number(attempt_count),
                },
                {
                  title: t('webhooks.answer'),
                  cell: ({ last_http_status, attempts }) =>
                    [last_http_status, attempts.at(-1)?.error].filter(Boolean).join(' '),
                },
                {
                  title: t('office.change'),
                  cell: ({ delivery_id, status, type }) =>
                    status === 'failed' && (
                      <button
                        type="button"
                        class="quiet"
                        disabled={again.isBusy}
                        onClick={single(() => again.run(delivery_id))}
                      >
                        {t('webhooks.redeliver')}
                        <span class="unseen"> {type}</span>
                      </button>
                    ),
                },
              ]}
            />
          </>
        )
      }
    </Content>
  );
}
