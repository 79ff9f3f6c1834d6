import { useState } from 'preact/hooks';
import { t } from '../../../../texts/texts.js';
import { Choice, Dialog } from '../../../../ui/parts.js';
import { monthName } from './months.js';
import { startRun, type Scope } from './steps.js';

type Props = { month: string; scope: Scope; onClose: () => void };

/** Names how many bills are sent, who is left out, and what was sent already. Asks for the language, and begins. */
export function SendAllDialog({ month, scope, onClose }: Props) {
  const { ids, couriers, expected, bills, withoutAddress, sentBefore } = scope;
  const [language, setLanguage] = useState('');
  const begin = () => {
    startRun(
      {
        action: 'send',
        month,
        // One of the choices below.
        ...(language ? { language: language as 'en' } : {}),
        ...(ids ? { courier_ids: ids } : {}),
      },
      expected,
    );
    onClose();
  };
  return (
    <Dialog title={t('run.sendTitle', { month: monthName(month) })} onClose={onClose}>
      <div class="stack">
        <p>{t('run.sendEffect', { month: monthName(month), bills, couriers })}</p>
        {withoutAddress > 0 && <p class="notice">{t('run.sendWithout', { count: withoutAddress })}</p>}
        {sentBefore > 0 && <p>{t('run.sendBefore', { count: sentBefore })}</p>}
        <Choice
          label={t('run.sendLanguage')}
          value={language}
          onValue={setLanguage}
          options={[
            ['', t('run.sendLast')],
            ['en', 'English'],
            ['es', 'Español'],
          ]}
        />
        <div class="actions">
          <button type="button" class="primary" onClick={begin}>
            {t('run.sendAction', { count: bills })}
          </button>
          <button type="button" class="dialog-first" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
