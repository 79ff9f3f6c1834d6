import { useState } from 'preact/hooks';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { session } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty } from '../../../ui/parts.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { ConfirmDialog, SecretDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast, toastFailure } from '../../ui/toasts.js';
import { courierRoleOf } from './columns.js';
import { changePerson, isAdmin, listPeople, resetFactor, type Person } from './people.js';
import { RoleDialog } from './role.js';
import { UserSessions } from './user-sessions.js';

type Props = {
  username: string;
  canManage: boolean;
  couriers: CourierRecord[] | undefined;
  closeLink: string;
  onChanged: () => void;
};

/** A user beside the list. Its address is its name. */
export function UserPanel({ username, canManage, couriers, closeLink, onChanged }: Props) {
  const users = useLoad(
    async (signal) => {
      const { rows } = await listPeople({ search: username, limit: 100 }, signal);
      return rows.filter((user) => user.username === username);
    },
    [username],
  );
  return (
    <Panel title={username} closeLink={closeLink}>
      <Content of={users}>
        {([user]) =>
          user ? (
            <Details
              user={user}
              canManage={canManage}
              couriers={couriers}
              onChanged={() => {
                users.reload();
                onChanged();
              }}
            />
          ) : (
            <Empty title={t('team.unknown', { username })} />
          )
        }
      </Content>
    </Panel>
  );
}

type Changing = { user: Person; onChanged: () => void };
type DetailsProps = Changing & Pick<Props, 'canManage' | 'couriers'>;
type Asking = 'disable' | 'reset_password' | 'reset_two_factor' | 'role';

function Details({ user, canManage, couriers, onChanged }: DetailsProps) {
  const [asking, setAsking] = useState<Asking>();
  const [password, setPassword] = useState<{ text: string; until: string }>();
  const { user_id, username, is_active } = user;
  const isSelf = session.value?.user.id === user_id;
  const close = () => setAsking(undefined);
  const enable = () =>
    changePerson({ action: 'enable', user_id }).then(() => {
      toast(t('team.enabled', { username }));
      onChanged();
    }, toastFailure);
  const act = async (action: Exclude<Asking, 'role'>) => {
    const { data } = await (action === 'reset_two_factor'
      ? resetFactor(user_id)
      : changePerson({ action, user_id }));
    if ('one_time_password' in data)
      setPassword({ text: data.one_time_password, until: data.password_expires_at });
    else toast(t('office.saved', { name: username }));
    if ('open_service_tokens' in data && data.open_service_tokens)
      toast(t('team.openTokens', { username, count: data.open_service_tokens }));
    onChanged();
  };
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('team.role'), textOf('role', user.role)],
          [t('common.courier'), user.courier_code],
          [t('team.courierRole'), courierRoleOf(user)],
          [t('common.status'), <ActiveTag key="status" isActive={is_active} />],
          [t('team.factor'), t(user.two_factor_enabled ? 'office.yes' : 'office.no')],
          [t('team.passwordUntil'), user.password_expires_at && dateTime(user.password_expires_at)],
          [t('office.created'), dateTime(user.created_at)],
        ]}
      />
      {canManage && (isAdmin() || !isSelf) && (
        <NameForm key={`${user.full_name} ${user.email}`} user={user} onChanged={onChanged} />
      )}
      {isSelf && <p class="muted">{t('team.self')}</p>}
      {!canManage && !isSelf && <p class="muted">{t('team.ownersOnly')}</p>}
      {canManage && !isSelf && (
        <>
          <div class="actions">
            <button type="button" onClick={() => setAsking('role')}>
              {t('team.changeRole')}
            </button>
            <button type="button" onClick={() => setAsking('reset_password')}>
              {t('team.reset_password')}
            </button>
            {isAdmin() && user.two_factor_enabled && (
              <button type="button" onClick={() => setAsking('reset_two_factor')}>
                {t('team.reset_two_factor')}
              </button>
            )}
            {is_active ? (
              <button type="button" class="danger" onClick={() => setAsking('disable')}>
                {t('team.disable')}
              </button>
            ) : (
              <button type="button" onClick={() => void enable()}>
                {t('team.enable')}
              </button>
            )}
          </div>
          {isAdmin() && <UserSessions userId={user_id} username={username} />}
        </>
      )}
      {asking === 'role' && (
        <RoleDialog user={user} couriers={couriers} onClose={close} onChanged={onChanged} />
      )}
      {asking && asking !== 'role' && (
        <ConfirmDialog
          title={t(`team.${asking}`)}
          effect={t(`teamEffect.${asking}`, { username })}
          action={t(`team.${asking}`)}
          onClose={close}
          run={() => act(asking)}
        />
      )}
      {password && (
        <SecretDialog
          title={t('team.password', { username })}
          secret={password.text}
          hint={t('team.passwordHint', { at: dateTime(password.until) })}
          onClose={() => setPassword(undefined)}
        />
      )}
    </div>
  );
}

/** The name and the address of a user. A change of another's can be undone; an address of one's own needs the password, on the page Me. */
function NameForm({ user, onChanged }: Changing) {
  const { user_id, full_name, email } = user;
  const isSelf = session.value?.user.id === user_id;
  const form = useForm({ full_name, email: email ?? '' }, async (values) => {
    const send = (name: string, address: string) =>
      changePerson({
        action: 'update',
        user_id,
        full_name: name,
        ...(isSelf ? {} : { email: address.trim() === '' ? null : address.trim() }),
      });
    await send(values.full_name, values.email);
    toast(t('office.saved', { name: user.username }), async () => {
      await send(full_name, email ?? '');
      onChanged();
    });
    onChanged();
  });
  return (
    <Form of={form} submit={t('office.save')}>
      <Text of={form} name="full_name" label={t('team.fullName')} maxLength={100} isRequired />
      <Text
        of={form}
        name="email"
        label={t('office.email')}
        inputMode="email"
        maxLength={254}
        isDisabled={isSelf}
      />
    </Form>
  );
}
