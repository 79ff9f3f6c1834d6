import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { toast } from '../../ui/toasts.js';
import { namesOf, type Parcel } from './events.js';

type Props = { parcels: Parcel[]; onClose: () => void };

/** Sends the present state of parcels to the systems of their couriers. */
export const SendAgainDialog = ({ parcels, onClose }: Props) => (
  <ConfirmDialog
    title={t('officeParcels.sendAgain')}
    effect={t('officeParcels.sendEffect', { parcels: namesOf(parcels) })}
    action={`${t('officeParcels.sendAgain')} (${parcels.length})`}
    onClose={onClose}
    run={async () => {
      const { data } = await api().packages.queueDispatch({
        package_ids: parcels.map(({ package_id }) => package_id),
      });
      const { total_queued: queued, total_selected: selected } = data;
      toast(
        queued === selected
          ? t('officeParcels.sent', { queued })
          : `${t('officeParcels.sent', { queued })} ${t('officeParcels.notSent', { count: selected - queued })}`,
      );
    }}
  />
);
