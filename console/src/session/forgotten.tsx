import { useState } from 'preact/hooks';
import { CrossdockClient } from '../../../sdk/typescript/src/index.js';
import { addTexts, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Dialog, Field, Problem } from '../ui/parts.js';
import { accountTexts } from './account-texts.js';

addTexts(accountTexts);

/** Nobody is logged in, and these calls need no credential: the service does not read the token. The client refuses an empty one. */
const client = () => new CrossdockClient({ baseUrl: location.origin, token: 'none', maxRetries: 0 });

/** Sends a mail with a code, then takes the code and a new password. */
export function ForgottenDialog({ username: typed, onClose }: { username: string; onClose: () => void }) {
  const [username, setUsername] = useState(typed);
  const [token, setToken] = useState('');
  const [wanted, setWanted] = useState('');
  const [step, setStep] = useState<'request' | 'reset' | 'done'>('request');
  const next = useAction(async () => {
    if (step === 'request') {
      await client().users.resetPassword({ action: 'request', username: username.trim() });
      setStep('reset');
    } else {
      await client().users.resetPassword({ action: 'reset', token: token.trim(), new_password: wanted });
      setStep('done');
    }
  });
  return (
    <Dialog title={t('forgotten.title')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          next.run();
        }}
      >
        <p>{t(`forgotten.${step}`)}</p>
        {step === 'request' && (
          <Field
            label={t('login.username')}
            value={username}
            onValue={setUsername}
            autocomplete="username"
            required
          />
        )}
        {step === 'reset' && (
          <>
            <Field label={t('forgotten.code')} value={token} onValue={setToken} required />
            <Field
              label={t('password.new')}
              type="password"
              value={wanted}
              onValue={setWanted}
              autocomplete="new-password"
              hint={t('password.rule')}
            />
          </>
        )}
        <Problem text={next.error} />
        {step !== 'done' && (
          <button type="submit" class="primary" disabled={next.isBusy}>
            {t(step === 'request' ? 'forgotten.send' : 'password.save')}
          </button>
        )}
      </form>
    </Dialog>
  );
}
