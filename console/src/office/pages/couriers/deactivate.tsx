import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { confirmed } from '../../ui/own-password.js';
import { toast, toastFailure } from '../../ui/toasts.js';

type Props = { couriers: CourierRecord[]; onClose: () => void; onChanged: () => void };

/** Blocks couriers. The question names what stops at once. */
export const DeactivateDialog = ({ couriers, onClose, onChanged }: Props) => (
  <ConfirmDialog
    title={t('couriers.deactivateTitle')}
    effect={t('couriers.deactivateEffect', { names: couriers.map((each) => each.courier_name).join(', ') })}
    action={t('couriers.deactivateAction', { count: couriers.length })}
    onClose={onClose}
    run={async () => {
      for (const { courier_id } of couriers)
        await api().couriers.manage({ action: 'deactivate', courier_id });
      onChanged();
      toast(t('couriers.deactivated', { count: couriers.length }), async () =>
        activateAll(couriers, onChanged),
      );
    }}
  />
);

/** Activates couriers again. */
export async function activate(couriers: CourierRecord[], onChanged: () => void): Promise<void> {
  try {
    await activateAll(couriers, onChanged);
    toast(t('couriers.activated', { count: couriers.length }));
  } catch (error) {
    toastFailure(error);
  }
}

async function activateAll(couriers: CourierRecord[], onChanged: () => void): Promise<void> {
  // One question for all: an action that is repeated changes nothing.
  await confirmed(async (confirmation) => {
    for (const { courier_id } of couriers)
      await api().couriers.manage({ action: 'activate', courier_id, ...confirmation });
  });
  onChanged();
}
