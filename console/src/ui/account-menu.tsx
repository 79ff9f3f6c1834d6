import { useState } from 'preact/hooks';
import type { LoggedInUser } from '../../../sdk/typescript/src/index.js';
import { change, settings, type LabelMode } from '../device/settings.js';
import { countQueue } from '../queue/scans.js';
import { corrections, queue } from '../queue/store.js';
import { LanguageChoice } from '../session/login.js';
import { leave } from '../station/leave.js';
import { t } from '../texts/texts.js';
import { lock } from '../session/session.js';
import { ACCOUNT_TITLES, type AccountPart } from '../session/account-parts.js';
import { part } from './part.js';
import { Choice, Dialog, Field } from './parts.js';

type Props = { user: LoggedInUser; hasLockKey?: boolean; onHelp: () => void };

/** What needs the service, and so a connection. */
const AccountDialog = part(async () => (await import('../session/account-dialog.js')).AccountDialog, {
  isOnUse: true,
});

/** The user, the settings of this device, help and logging out. */
export function AccountMenu({ user, hasLockKey = false, onHelp }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const [opened, setOpened] = useState<AccountPart>();
  /** Leaves the menu for something else. */
  const goTo = (open: () => void) => () => {
    setIsOpen(false);
    open();
  };
  const { waiting } = countQueue(queue.value, corrections.value, user.id);
  return (
    <>
      <button type="button" class="account" onClick={() => setIsOpen(true)} aria-haspopup="dialog">
        <span class="unseen">{t('menu.account')} </span>
        <span class="account-name">{user.full_name}</span>
      </button>
      {isOpen && (
        <Dialog title={user.full_name} onClose={() => setIsOpen(false)}>
          <p class="muted">
            {t('menu.role', { role: t(`role.${user.role as 'admin'}`), username: user.username })}
          </p>
          <div class="stack">
            <LanguageChoice />
            {user.role !== 'courier' && <StationSettings />}
            {waiting > 0 && <p class="notice">{t('queue.logoutHint', { count: waiting })}</p>}
            <div class="actions">
              {partsOf(user).map((each) => (
                <button key={each} type="button" onClick={goTo(() => setOpened(each))}>
                  {t(ACCOUNT_TITLES[each])}
                </button>
              ))}
            </div>
            <div class="actions">
              <button type="button" onClick={goTo(onHelp)}>
                {t('help.title')} <kbd>F1</kbd>
              </button>
              {user.role !== 'courier' && (
                <button type="button" onClick={goTo(lock)}>
                  {t('lock.now')} {hasLockKey && <kbd>F9</kbd>}
                </button>
              )}
              <button type="button" onClick={goTo(leave)}>
                {t('menu.logout')}
              </button>
            </div>
          </div>
        </Dialog>
      )}
      {opened && <AccountDialog part={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

const partsOf = ({ role, two_factor_enabled: hasFactor }: LoggedInUser): AccountPart[] => [
  'password',
  hasFactor ? 'factorOff' : 'factor',
  ...(role === 'warehouse' ? (['pin'] as const) : []),
  'sessions',
];

/** After how long a station is locked. 0: never. */
const LOCK_MINUTES = [2, 5, 10, 15, 30, 60, 0];

function StationSettings() {
  const { station, hasSound, labels, prefix, suffix, lockMinutes } = settings.value;
  return (
    <>
      <Field
        label={t('settings.station')}
        hint={t('settings.stationHint')}
        value={station}
        maxLength={40}
        onValue={(value) => change({ station: value, isNamed: value.trim() !== '' })}
      />
      <Choice
        label={t('settings.labels')}
        value={labels}
        // The options are these values.
        onValue={(value) => change({ labels: value as LabelMode })}
        options={[
          ['auto', t('settings.labelsAuto')],
          ['queue', t('settings.labelsQueue')],
          ['pdf', t('settings.labelsPdf')],
          ['zpl', t('settings.labelsZpl')],
          ['off', t('settings.labelsOff')],
        ]}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={hasSound}
          onChange={(event) => change({ hasSound: event.currentTarget.checked })}
        />
        {t('settings.sound')}
      </label>
      <div class="pair">
        <Field
          label={t('settings.prefix')}
          value={prefix}
          maxLength={8}
          onValue={(value) => change({ prefix: value })}
        />
        <Field
          label={t('settings.suffix')}
          value={suffix}
          maxLength={8}
          onValue={(value) => change({ suffix: value })}
        />
      </div>
      <p class="field-hint">{t('settings.affixHint')}</p>
      <Choice
        label={t('lock.after')}
        value={String(lockMinutes)}
        onValue={(value) => change({ lockMinutes: Number(value) })}
        options={LOCK_MINUTES.map((minutes) => [
          String(minutes),
          minutes === 0 ? t('lock.never') : t('lock.minutes', { count: minutes }),
        ])}
      />
    </>
  );
}
