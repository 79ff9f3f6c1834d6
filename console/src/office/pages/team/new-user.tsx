import { useState } from 'preact/hooks';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { dateTime, t } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { FormDialog, SecretDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { manageUser } from './manage-user.js';
import { ROLES } from './roles.js';

type Props = {
  couriers: CourierRecord[];
  /** The courier that is chosen first. */
  courierId: string | undefined;
  onClose: () => void;
  onCreated: () => void;
};

type Password = { username: string; text: string; until: string };

/** Creates a user. Its one-time password is shown once. */
export function NewUserDialog({ couriers, courierId, onClose, onCreated }: Props) {
  const [password, setPassword] = useState<Password>();
  const form = useForm(
    {
      username: '',
      full_name: '',
      email: '',
      role: courierId ? 'courier' : 'warehouse',
      courier_id: courierId ?? '',
    },
    async ({ username, full_name, email, role, courier_id }) => {
      if (role === 'courier' && courier_id === '') throw new Error(t('office.chooseCourier'));
      const { data } = await manageUser({
        action: 'create',
        username: username.trim(),
        full_name: full_name.trim(),
        // The choices are the roles of the contract.
        role: role as 'warehouse',
        ...(email.trim() ? { email: email.trim() } : {}),
        ...(role === 'courier' ? { courier_id } : {}),
      });
      if ('one_time_password' in data)
        setPassword({
          username: data.username,
          text: data.one_time_password,
          until: data.password_expires_at,
        });
      onCreated();
    },
    { fieldOf: { duplicate_username: 'username' } },
  );
  if (password)
    return (
      <SecretDialog
        title={t('team.password', { username: password.username })}
        secret={password.text}
        hint={t('team.passwordHint', { at: dateTime(password.until) })}
        onClose={onClose}
      />
    );
  return (
    <FormDialog title={t('team.new')} onClose={onClose}>
      <Form of={form} submit={t('office.create')}>
        <Text of={form} name="username" label={t('login.username')} maxLength={100} isRequired />
        <Text of={form} name="full_name" label={t('team.fullName')} maxLength={100} isRequired />
        <Text
          of={form}
          name="email"
          label={t('office.email')}
          hint={t('team.emailHint')}
          inputMode="email"
          maxLength={254}
        />
        <Choice
          label={t('team.role')}
          value={form.values.role}
          onValue={(role) => form.set('role', role)}
          options={ROLES.map((role) => [role, t(`role.${role}`)])}
        />
        {form.values.role === 'courier' && (
          <Choice
            label={t('common.courier')}
            value={form.values.courier_id}
            onValue={(value) => form.set('courier_id', value)}
            options={courierChoices(couriers)}
          />
        )}
      </Form>
    </FormDialog>
  );
}
