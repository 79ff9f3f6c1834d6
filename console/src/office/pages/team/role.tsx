import type { ManagedUser } from '../../../../../sdk/typescript/src/index.js';
import { t } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import { courierChoices, useCouriers } from '../../list/courier-options.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { manageUser } from './manage-user.js';
import { ROLES } from './roles.js';

type Props = { user: ManagedUser; onClose: () => void; onChanged: () => void };

/** Changes the role of a user, which ends its sessions. */
export function RoleDialog({ user: { user_id, username, role, courier_id }, onClose, onChanged }: Props) {
  const couriers = useCouriers();
  const form = useForm({ role: String(role), courier_id: courier_id ?? '' }, async (values) => {
    if (values.role === 'courier' && values.courier_id === '') throw new Error(t('office.chooseCourier'));
    await manageUser({
      action: 'change_role',
      user_id,
      // The choices are the roles of the contract.
      role: values.role as 'warehouse',
      ...(values.role === 'courier' ? { courier_id: values.courier_id } : {}),
    });
    toast(t('office.saved', { name: username }));
    onClose();
    onChanged();
  });
  return (
    <FormDialog title={t('team.changeRole')} onClose={onClose}>
      <p>{t('teamEffect.role', { username })}</p>
      <Form of={form} submit={t('team.changeRole')}>
        <Choice
          label={t('team.role')}
          value={form.values.role}
          onValue={(value) => form.set('role', value)}
          options={ROLES.map((each) => [each, t(`role.${each}`)])}
        />
        {form.values.role === 'courier' && (
          <Choice
            label={t('common.courier')}
            value={form.values.courier_id}
            onValue={(value) => form.set('courier_id', value)}
            options={courierChoices(couriers.data)}
          />
        )}
      </Form>
    </FormDialog>
  );
}
