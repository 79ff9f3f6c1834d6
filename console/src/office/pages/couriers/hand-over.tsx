import { useEffect } from 'preact/hooks';
import { dateTime, t } from '../../../texts/texts.js';
import { officeLink } from '../../../ui/router.js';
import { Secret } from '../../ui/dialogs.js';
import { FactList } from '../../ui/panel.js';
import type { Created } from '../courier-parts.js';

/** What the courier needs to begin. Key and password are shown only here, so that the page asks before it is left. */
export function HandOver({ of: { code, name, apiKey, login } }: { of: Created }) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
  return (
    <section class="card stack sheet" aria-label={t('wizard.sheet')} data-testid="sheet">
      <h2>{t('sheet.title', { name })}</h2>
      <p class="notice">{t('sheet.once')}</p>
      <FactList
        facts={[
          [
            t('couriers.code'),
            <span key="code" class="mono">
              {code}
            </span>,
          ],
          [t('sheet.console'), <span key="console" class="mono break">{`${location.origin}/console`}</span>],
          [
            t('login.username'),
            <span key="user" class="mono">
              {login.username}
            </span>,
          ],
          [t('sheet.password'), <Secret key="password" text={login.one_time_password} />],
          [t('sheet.until'), dateTime(login.password_expires_at)],
          [t('courierTab.key'), <Secret key="key" text={apiKey} />],
          [t('sheet.docs'), <span key="docs" class="mono break">{`${location.origin}/docs`}</span>],
        ]}
      />
      <p>{t('sheet.hint')}</p>
      <div class="actions no-print">
        <button type="button" class="primary" onClick={() => print()}>
          {t('sheet.print')}
        </button>
        <a class="button" href={officeLink(['couriers', code])}>
          {t('sheet.done')}
        </a>
      </div>
    </section>
  );
}
