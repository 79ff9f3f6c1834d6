import { useState } from 'preact/hooks';
import { settings, THEMES, type Theme } from '../../device/settings.js';
import { choose } from '../../preferences/preferences.js';
import { FactorOffForm } from '../../session/factor-off.js';
import { PasswordForm, SecondFactorForm } from '../../session/first-login.js';
import { LanguageChoice } from '../../session/login.js';
import { session } from '../../session/session.js';
import { SessionList } from '../../session/sessions.js';
import { t } from '../../texts/texts.js';
import { Choice, Heading } from '../../ui/parts.js';
import { toast } from '../ui/toasts.js';

/** The account of the person, and how the console looks on all devices of the person. */
export function MePage() {
  const [round, setRound] = useState(0);
  const user = session.value?.user;
  if (!user) return null;
  const done = () => {
    toast(t('office.saved', { name: user.full_name }));
    // The forms begin again.
    setRound(round + 1);
  };
  return (
    <>
      <Heading title={t('me.title')} />
      <div class="stack" key={round}>
        <section class="card office-form">
          <h2>{user.full_name}</h2>
          <p class="muted">
            {t('menu.role', { role: t(`role.${user.role as 'admin'}`), username: user.username })}
          </p>
          <LanguageChoice />
          <Choice
            label={t('me.theme')}
            value={settings.value.theme}
            // The options are these values.
            onValue={(value) => choose({ theme: value as Theme })}
            options={THEMES.map((each) => [each, t(`theme.${each}`)])}
          />
        </section>
        <section class="card office-form">
          <h2>{t('menu.password')}</h2>
          <PasswordForm onDone={done} />
        </section>
        <section class="card office-form">
          <h2>{t(user.two_factor_enabled ? 'factor.off' : 'factor.title')}</h2>
          {user.two_factor_enabled ? <FactorOffForm onDone={done} /> : <SecondFactorForm onDone={done} />}
        </section>
        <section class="card stack">
          <h2>{t('sessions.title')}</h2>
          <SessionList />
        </section>
      </div>
    </>
  );
}
