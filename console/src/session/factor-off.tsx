import { useState } from 'preact/hooks';
import { addTexts, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Field, Problem } from '../ui/parts.js';
import { api, replaceToken } from './session.js';
import { accountTexts } from './account-texts.js';

addTexts(accountTexts);

/** Switches the own second factor off. The service refuses it to a role that needs one. */
export function FactorOffForm({ onDone }: { onDone: () => void }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const disable = useAction(async () => {
    const { data } = await api().users.manageTwoFactor({ action: 'disable', password, code });
    if (!('access_token' in data)) throw new Error(t('common.unexpected'));
    await replaceToken(data.access_token, { two_factor_enabled: false });
    onDone();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        disable.run();
      }}
    >
      <p>{t('factor.offHint')}</p>
      <Field
        label={t('login.password')}
        type="password"
        value={password}
        onValue={setPassword}
        autocomplete="current-password"
      />
      <Field
        label={t('login.code')}
        hint={t('login.codeHint')}
        value={code}
        onValue={setCode}
        autocomplete="one-time-code"
      />
      <Problem text={disable.error} />
      <div class="actions">
        <button type="submit" class="danger" disabled={disable.isBusy}>
          {t('factor.off')}
        </button>
      </div>
    </form>
  );
}
