import { api } from '../../../../session/session.js';
import { t } from '../../../../texts/texts.js';
import { DeliveryTable } from '../../../../ui/data/delivery-table.js';
import { useLoad } from '../../../../ui/load.js';
import { Content } from '../../../../ui/parts.js';
import { toast } from '../../../ui/toasts.js';

const MOST = 50;

/** The webhooks of a parcel. */
export function Deliveries({ packageId, round }: { packageId: string; round: number }) {
  const deliveries = useLoad(
    async (signal) =>
      (await api().webhooks.listDeliveries({ package_id: packageId, limit: MOST }, { signal })).data,
    [packageId, round],
  );
  const onSent = () => {
    toast(t('parcel.redelivered'));
    deliveries.reload();
  };
  return (
    <Content of={deliveries}>
      {(rows) =>
        rows.length === 0 ? (
          <p class="muted">{t('parcel.noWebhooks')}</p>
        ) : (
          <DeliveryTable caption={t('parcel.webhooks')} rows={rows} onSent={onSent} />
        )
      }
    </Content>
  );
}
