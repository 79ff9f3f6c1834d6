import { t } from '../../../texts/texts.js';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { changePerson, placeOf, type Person } from './people.js';
import { PlaceFields } from './place.js';

type Props = {
  user: Person;
  couriers: CourierRecord[] | undefined;
  onClose: () => void;
  onChanged: () => void;
};

/** Changes the role of a user, which ends its sessions. */
export function RoleDialog({ user, couriers, onClose, onChanged }: Props) {
  const { user_id, username, role, courier_id, courier_role } = user;
  const form = useForm(
    { role: String(role), courier_role: courier_role ?? 'member', courier_id: courier_id ?? '' },
    async (values) => {
      await changePerson({ action: 'change_role', user_id, ...placeOf(values) });
      toast(t('office.saved', { name: username }));
      onClose();
      onChanged();
    },
  );
  return (
    <FormDialog title={t('team.changeRole')} onClose={onClose}>
      <p>{t('teamEffect.role', { username })}</p>
      <Form of={form} submit={t('team.changeRole')}>
        <PlaceFields form={form} couriers={couriers} />
      </Form>
    </FormDialog>
  );
}
