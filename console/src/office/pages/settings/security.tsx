import { useState } from 'preact/hooks';
import type { SecuritySettings, SecuritySettingsUpdate } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Field } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { fieldFailuresOf } from '../../ui/failure.js';
import { confirmed } from '../../ui/own-password.js';
import { toast } from '../../ui/toasts.js';

const ROLES = ['admin', 'manager', 'warehouse', 'courier'] as const;

/** What every user of the instance must have, and when idle sessions end. */
export function SecurityTab() {
  const settings = useLoad(async (signal) => (await api().users.securitySettings({ signal })).data, []);
  return (
    <Content of={settings}>
      {(data) => <SecurityForm key={data.updated_at} settings={data} onChanged={settings.reload} />}
    </Content>
  );
}

type Props = { settings: SecuritySettings; onChanged: () => void };

function SecurityForm({ settings, onChanged }: Props) {
  const before = settings.require_two_factor;
  const [roles, setRoles] = useState<readonly string[]>(before);
  const [idle, setIdle] = useState(String(settings.idle_timeout_minutes ?? ''));
  const [isAsking, setIsAsking] = useState(false);
  const [failure, setFailure] = useState<string>();
  const minutes = idle.trim() === '' ? null : Number(idle.trim());
  const added = ROLES.filter((role) => roles.includes(role) && !before.includes(role));
  const removed = ROLES.filter((role) => !roles.includes(role) && before.includes(role));
  const isIdleChanged = minutes !== settings.idle_timeout_minutes;
  const namesOf = (list: readonly string[]) => list.map((role) => textOf('role', role)).join(', ');
  const effects = [
    added.length > 0 && t('securityEffect.add', { roles: namesOf(added) }),
    removed.length > 0 && t('securityEffect.remove', { roles: namesOf(removed) }),
    isIdleChanged && (minutes === null ? t('securityEffect.idleOff') : t('securityEffect.idle', { minutes })),
  ].filter(Boolean);
  return (
    <form
      class="card office-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setFailure(undefined);
        if (minutes !== null && !Number.isInteger(minutes)) setFailure(t('problem.type'));
        else if (effects.length > 0) setIsAsking(true);
      }}
    >
      <Unsaved what={t('settingsTab.security')} isChanged={effects.length > 0} />
      <fieldset class="stack plain">
        <legend>{t('security.factor')}</legend>
        <p class="field-hint">{t('security.factorHint')}</p>
        {ROLES.map((role) => (
          <label key={role} class="check">
            <input
              type="checkbox"
              checked={roles.includes(role)}
              onChange={() =>
                setRoles(roles.includes(role) ? roles.filter((each) => each !== role) : [...roles, role])
              }
            />
            {t(`role.${role}`)}
          </label>
        ))}
      </fieldset>
      <Field
        label={t('security.idle')}
        hint={t('security.idleHint')}
        value={idle}
        onValue={setIdle}
        error={failure}
        inputMode="numeric"
        maxLength={3}
        name="idle_timeout_minutes"
      />
      {settings.updated_at && (
        <p class="muted">{t('security.changedAt', { at: dateTime(settings.updated_at) })}</p>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={effects.length === 0}>
          {t('office.save')}
        </button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('security.changeTitle')}
          effect={effects.join(' ')}
          action={t('security.change')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            // The boxes are the roles of the contract.
            const update = {
              require_two_factor: roles,
              idle_timeout_minutes: minutes,
            } as SecuritySettingsUpdate;
            try {
              await confirmed((confirmation) =>
                api().users.updateSecuritySettings({ ...update, ...confirmation }),
              );
            } catch (error) {
              setFailure(fieldFailuresOf(error)['idle_timeout_minutes']);
              throw error;
            }
            toast(t('security.changed'));
            onChanged();
          }}
        />
      )}
    </form>
  );
}
