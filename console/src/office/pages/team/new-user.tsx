import { useState } from 'preact/hooks';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { session } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { FormDialog, SecretDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { changePerson, isCourier, placeOf } from './people.js';
import { PlaceFields } from './place.js';

type Props = {
  couriers: CourierRecord[] | undefined;
  /** The courier that is chosen first. */
  courierId: string | undefined;
  onClose: () => void;
  onCreated: () => void;
};

type Password = { username: string; text: string; until: string };

/** The user names of a courier begin with its code. */
const prefix = () => (isCourier() ? `${(session.value?.user.courier_code ?? '').toLowerCase()}.` : '');

/** Creates a user. Its one-time password is shown once. */
export function NewUserDialog({ couriers, courierId, onClose, onCreated }: Props) {
  const [password, setPassword] = useState<Password>();
  const form = useForm(
    {
      username: prefix(),
      full_name: '',
      email: '',
      role: courierId ? 'courier' : 'warehouse',
      courier_role: 'member',
      courier_id: courierId ?? '',
    },
    async ({ username, full_name, email, ...place }) => {
      const { data } = await changePerson({
        action: 'create',
        username: username.trim(),
        full_name: full_name.trim(),
        ...(email.trim() ? { email: email.trim() } : {}),
        ...placeOf(place),
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
        <Text
          of={form}
          name="username"
          label={t('login.username')}
          maxLength={100}
          isRequired
          {...(isCourier() ? { hint: t('team.prefixHint', { prefix: prefix() }) } : {})}
        />
        <Text of={form} name="full_name" label={t('team.fullName')} maxLength={100} isRequired />
        <Text
          of={form}
          name="email"
          label={t('office.email')}
          hint={t('team.emailHint')}
          inputMode="email"
          maxLength={254}
        />
        <PlaceFields form={form} couriers={couriers} />
      </Form>
    </FormDialog>
  );
}
