import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { addTexts, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Field, Problem } from '../ui/parts.js';
import { acceptGrant, api, logOut, replaceToken } from './session.js';
import { accountTexts } from './account-texts.js';

addTexts(accountTexts);

function Entrance({ title, hint, children }: { title: string; hint: string; children: ComponentChildren }) {
  return (
    <main class="entrance">
      <div class="entrance-card">
        <p class="brand brand-large">Crossdock</p>
        <h1>{title}</h1>
        {hint && <p>{hint}</p>}
        {children}
        <button type="button" class="quiet" onClick={logOut}>
          {t('menu.logout')}
        </button>
      </div>
    </main>
  );
}

/** For a user with a one-time password, whose token is good for nothing else. */
export const PasswordPage = () => (
  <Entrance title={t('password.title')} hint={t('password.hint')}>
    <PasswordForm />
  </Entrance>
);

/** Changes the own password. Tells the caller when the service has taken it. */
export function PasswordForm({ onDone }: { onDone?: () => void }) {
  const [current, setCurrent] = useState('');
  const [wanted, setWanted] = useState('');
  const [again, setAgain] = useState('');
  const [isTried, setIsTried] = useState(false);
  const isDifferent = (again !== '' || isTried) && again !== wanted;
  const save = useAction(async () => {
    const { data } = await api().users.changePassword({ current_password: current, new_password: wanted });
    await acceptGrant(data);
    onDone?.();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setIsTried(again !== wanted);
        if (again === wanted) save.run();
      }}
    >
      <Field
        label={t(onDone ? 'password.present' : 'password.current')}
        type="password"
        value={current}
        onValue={setCurrent}
        autocomplete="current-password"
      />
      <Field
        label={t('password.new')}
        type="password"
        value={wanted}
        onValue={setWanted}
        autocomplete="new-password"
        hint={t('password.rule')}
      />
      <Field
        label={t('password.again')}
        type="password"
        value={again}
        onValue={setAgain}
        autocomplete="new-password"
        error={isDifferent ? t('password.different') : undefined}
      />
      <Problem text={save.error} />
      <button type="submit" class="primary" disabled={save.isBusy}>
        {t('password.save')}
      </button>
    </form>
  );
}

type Step =
  | { name: 'password' }
  | { name: 'code'; qrCode: string; secret: string }
  | { name: 'codes'; token: string; codes: string[] };

/** For a user whose role needs a second factor. */
export const SecondFactorPage = () => (
  <Entrance title={t('factor.title')} hint="">
    <SecondFactorForm />
  </Entrance>
);

/** Sets up a second factor. Tells the caller when the user has stored the backup codes. */
export function SecondFactorForm({ onDone }: { onDone?: () => void }) {
  const [step, setStep] = useState<Step>({ name: 'password' });
  const [text, setText] = useState('');
  const next = useAction(async () => {
    if (step.name === 'password') {
      const { data } = await api().users.manageTwoFactor({ action: 'setup', password: text });
      if (!('qr_code' in data)) throw new Error(t('common.unexpected'));
      setStep({ name: 'code', qrCode: data.qr_code, secret: data.secret });
    } else if (step.name === 'code') {
      const { data } = await api().users.manageTwoFactor({ action: 'enable', code: text.trim() });
      if (!('access_token' in data && 'backup_codes' in data)) throw new Error(t('common.unexpected'));
      setStep({ name: 'codes', token: data.access_token, codes: data.backup_codes });
    } else {
      await replaceToken(step.token, { two_factor_enabled: true, must_set_up_two_factor: false });
      onDone?.();
    }
    setText('');
  });
  return (
    <>
      <p>{t(onDone && step.name === 'password' ? 'factor.ownHint' : `factor.${step.name}Hint`)}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          next.run();
        }}
      >
        {step.name === 'password' && (
          <Field
            label={t('login.password')}
            type="password"
            value={text}
            onValue={setText}
            autocomplete="current-password"
          />
        )}
        {step.name === 'code' && (
          <>
            <img class="qr" src={step.qrCode} alt={t('factor.qr')} />
            <p class="mono">{step.secret}</p>
            <Field
              label={t('login.code')}
              value={text}
              onValue={setText}
              autocomplete="one-time-code"
              inputMode="numeric"
            />
          </>
        )}
        {step.name === 'codes' && (
          <ul class="codes mono">
            {step.codes.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
        )}
        <Problem text={next.error} />
        <button type="submit" class="primary" disabled={next.isBusy}>
          {t(step.name === 'codes' ? 'factor.stored' : 'factor.next')}
        </button>
      </form>
    </>
  );
}
