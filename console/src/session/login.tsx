import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../../sdk/typescript/src/index.js';
import { change, settings, type Language } from '../device/settings.js';
import { choose } from '../preferences/preferences.js';
import { countQueue } from '../queue/scans.js';
import { corrections, queue, openQueue } from '../queue/store.js';
import { LOGIN_GUIDE } from '../guide/sections.js';
import { t, textOf } from '../texts/texts.js';
import { GuideLink } from '../guide/guide-link.js';
import { useAction } from '../ui/load.js';
import { Choice, Dialog, Field, Problem } from '../ui/parts.js';
import { loadParts, part } from '../ui/part.js';
import { isAtOffice } from '../ui/router.js';
import { forgetLockedScan, isNumber, keepLockedScan, lockedScans, missedScans } from './locked-scans.js';
import { isStation } from './pin/workers.js';
import { STEADY_MS } from '../scanner/chain.js';
import { acceptGrant, isLocked, loginClient, messageOf, session } from './session.js';

// It needs a connection anyway.
const PinLogin = part(async () => (await import('./pin/pin-login.js')).PinLogin, { isOnUse: true });
const ForgottenDialog = part(async () => (await import('./forgotten.js')).ForgottenDialog, { isOnUse: true });

export function LoginPage() {
  const [isForgotten, setIsForgotten] = useState(false);
  const { ofOthers, others } = countQueue(queue.value, corrections.value, '');
  // Before the login nothing else reads the queue.
  useEffect(() => void openQueue().catch(() => undefined), []);
  return (
    <main class="entrance">
      <div class="entrance-card">
        <p class="brand brand-large">Crossdock</p>
        <h1>{t('login.title')}</h1>
        {ofOthers > 0 && (
          <p class="notice" data-testid="waiting-here">
            {t('queue.others', { count: ofOthers, names: others.join(', ') })}
          </p>
        )}
        {isStation() && <PinLogin />}
        <LoginForm />
        <button type="button" class="quiet" onClick={() => setIsForgotten(true)}>
          {t('forgotten.title')}
        </button>
        <LanguageChoice />
        <GuideLink section={LOGIN_GUIDE} />
        {isForgotten && <ForgottenDialog username="" onClose={() => setIsForgotten(false)} />}
      </div>
    </main>
  );
}

/** Of the person who is logged in. Before a login, of the device. */
const changeLanguage = (language: Language) => (session.value ? choose({ language }) : change({ language }));

export const LanguageChoice = () => (
  <Choice
    label={t('settings.language')}
    value={settings.value.language}
    // The options are these two values.
    onValue={(value) => changeLanguage(value as Language)}
    options={[
      ['en', 'English'],
      ['es', 'Español'],
    ]}
  />
);

/** Over the page of an expired session, which stays as it is. Of a locked one, nothing else is shown. */
export function ExpiredDialog({ onLeave }: { onLeave: () => void }) {
  const { username = '', full_name: name = '' } = session.value?.user ?? {};
  return (
    <div class="before-login">
      <Dialog title={t(isLocked.value ? 'lock.title' : 'login.expired')} isInFront>
        <p>{isLocked.value ? t('lock.hint', { name }) : t('login.expiredHint')}</p>
        {isLocked.value && <ScansMeanwhile text="lock.kept" />}
        {isStation() && <PinLogin onOther={onLeave} />}
        <LoginForm username={username} />
        <button type="button" class="quiet" onClick={onLeave}>
          {t('login.somebodyElse')}
        </button>
      </Dialog>
    </div>
  );
}

function ScansMeanwhile({ text }: { text: 'lock.kept' | 'login.scanned' }) {
  const kept = lockedScans.value.length;
  const missed = missedScans.value;
  useEffect(() => () => void (missedScans.value = 0), []);
  return (
    <div role="status">
      {kept > 0 && <p class="notice">{t(text, { count: kept })}</p>}
      {missed > 0 && <p class="notice">{t('lock.missed', { count: missed })}</p>}
    </div>
  );
}

/** @param username the user of an expired session, who cannot be changed */
function LoginForm({ username: expired }: { username?: string }) {
  const [username, setUsername] = useState(expired ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [isIncomplete, setIsIncomplete] = useState(false);
  const [hasScanned, setHasScanned] = useState(false);
  /** When the user name was empty last. A person types more slowly than a scanner. */
  const typedSince = useRef(0);
  const giveCode = useRef<(code: string) => void>(() => undefined);

  const askCode = () =>
    new Promise<string>((resolve) => {
      giveCode.current = resolve;
      setCode('');
      setNeedsCode(true);
    });
  const login = useAction(async () => {
    // Meanwhile, so that the page is there when the user is.
    if (!isAtOffice()) void loadParts();
    try {
      const grant = await loginClient(username, password, askCode).login();
      // A program may have typed it before, as fast as a scanner does.
      forgetLockedScan(password);
      await acceptGrant(grant);
    } catch (error) {
      setNeedsCode(false);
      throw new Error(failureText(error), { cause: error });
    }
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (needsCode) {
      giveCode.current(code.trim());
      return;
    }
    // Somebody scans at a station without having logged in: the number is kept for whoever does.
    const isFast = event.timeStamp - typedSince.current <= username.length * STEADY_MS;
    const isScan =
      isFast && password === '' && expired === undefined && settings.value.isNamed && isNumber(username);
    setHasScanned(isScan);
    if (isScan) {
      keepLockedScan({ kind: 'scan', scan: { text: username.trim(), isAgain: false } });
      setUsername('');
      return;
    }
    const isMissing = username.trim() === '' || password === '';
    setIsIncomplete(isMissing);
    // Enter in the first field goes on to the second one.
    if (isMissing) emptyFieldOf(event.currentTarget)?.focus();
    else login.run();
  };
  return (
    <form class="stack" onSubmit={submit}>
      {needsCode ? (
        <Field
          // A new field for each step takes the focus.
          key="code"
          label={t('login.code')}
          hint={t('login.codeHint')}
          value={code}
          onValue={setCode}
          autocomplete="one-time-code"
          ref={focus}
        />
      ) : (
        <>
          <Field
            label={t('login.username')}
            value={username}
            onValue={(text) => {
              if (username === '') typedSince.current = performance.now();
              setUsername(text);
            }}
            autocomplete="username"
            disabled={expired !== undefined}
            ref={expired === undefined ? focus : undefined}
          />
          <Field
            label={t('login.password')}
            type="password"
            value={password}
            onValue={setPassword}
            autocomplete="current-password"
            ref={expired === undefined ? undefined : focus}
          />
        </>
      )}
      {hasScanned && <ScansMeanwhile text="login.scanned" />}
      <Problem text={isIncomplete ? t('login.incomplete') : login.error} />
      <button type="submit" class="primary" disabled={login.isBusy && !needsCode}>
        {t(needsCode ? 'login.confirm' : 'login.submit')}
      </button>
    </form>
  );
}

const emptyFieldOf = (form: EventTarget | null): HTMLInputElement | undefined =>
  form instanceof HTMLFormElement
    ? [...form.querySelectorAll('input')].find(({ value }) => value.trim() === '')
    : undefined;

/** Takes the focus when the field appears. */
const focus = (element: HTMLInputElement | null) => element?.focus();

/** Some failures are shorter here than in the service's text. */
function failureText(error: unknown): string {
  return error instanceof ApiError ? textOf('failure', error.code, messageOf(error)) : messageOf(error);
}
