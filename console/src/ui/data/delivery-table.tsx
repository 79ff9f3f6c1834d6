import type { WebhookDelivery } from '../../../../sdk/typescript/src/index.js';
import { single } from '../../device/single.js';
import { api } from '../../session/session.js';
import { dateTime, number, t, textOf } from '../../texts/texts.js';
import { useAction } from '../load.js';
import { Problem, Table, Tag } from '../parts.js';

type Props = {
  caption: string;
  rows: WebhookDelivery[];
  onSent: () => void;
  /** Opens a delivery. */
  onShow?: (deliveryId: string, type: string) => void;
};

/** Webhooks with what the courier's system has answered. Those that failed can be sent again. */
export function DeliveryTable({ caption, rows, onSent, onShow }: Props) {
  const redeliver = useAction(async (deliveryId: string) => {
    await api().webhooks.manageDeliveries({ action: 'redeliver', delivery_id: deliveryId });
    onSent();
  });
  return (
    <>
      <Problem text={redeliver.error} />
      <Table
        caption={caption}
        rows={rows}
        keyOf={({ delivery_id }) => delivery_id}
        columns={[
          {
            title: t('webhooks.type'),
            cell: ({ delivery_id, type }) =>
              onShow ? (
                <button type="button" class="link mono" onClick={() => onShow(delivery_id, type)}>
                  {type}
                </button>
              ) : (
                <span class="mono">{type}</span>
              ),
          },
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
          { title: t('webhooks.at'), cell: ({ created_at }) => dateTime(created_at) },
          {
            title: t('manifests.change'),
            cell: ({ delivery_id, status, type }) =>
              status === 'failed' && (
                <button
                  type="button"
                  class="quiet"
                  disabled={redeliver.isBusy}
                  onClick={single(() => redeliver.run(delivery_id))}
                >
                  {t('webhooks.redeliver')}
                  <span class="unseen"> {type}</span>
                </button>
              ),
          },
        ]}
      />
    </>
  );
}
