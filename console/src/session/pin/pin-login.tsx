import { useEffect, useRef, useState } from 'preact/hooks';
import { addTexts, t } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Field, Problem } from '../../ui/parts.js';
import { forgetLockedScan } from '../locked-scans.js';
import { acceptGrant, isLocked, session } from '../session.js';
import { pinEn, pinEs } from './texts.js';
import { listWorkers, MAX_PIN_LENGTH, PIN, takeOver } from './workers.js';

addTexts({ en: pinEn, es: pinEs });

type Props = {
  /** Called before another user takes over an expired session. */
  onOther?: () => void;
};

const RETRY_MS = 5_000;

/** Those who may take over the station with a PIN. Nothing if there is nobody, or the service cannot be reached. */
export function PinLogin({ onOther }: Props) {
  const present = session.value?.user.id;
  const workers = useLoad(listWorkers, []);
  const [chosen, setChosen] = useState(present);
  const [pin, setPin] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // An expired session that is not locked has a parcel of its user on the screen.
  const shown = (workers.data ?? []).filter(
    ({ user_id: id }) => !present || isLocked.value || id === present,
  );
  const worker = shown.find(({ user_id: id }) => id === chosen);

  useEffect(() => {
    if (worker && !isTyping()) field.current?.focus();
  }, [worker?.user_id]);
  // The device may have slept, or have had no connection.
  useEffect(() => {
    if (workers.error === undefined) return;
    const timer = setTimeout(workers.reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [workers.error, workers.isLoading]);
  const enter = useAction(async () => {
    if (!worker) return;
    try {
      const grant = await takeOver(worker.user_id, pin);
      // A program may have typed it, as fast as a scanner does.
      forgetLockedScan(pin);
      await acceptGrant(grant, onOther);
    } catch (error) {
      // Five wrong PINs take the worker from the list.
      workers.reload();
      throw error;
    } finally {
      setPin('');
      field.current?.focus();
    }
  });
  const choose = (id: string) => {
    setPin('');
    setChosen(id);
    enter.clear();
    // What is typed next is the PIN, also if the name was chosen before.
    field.current?.focus();
  };
  if (shown.length === 0 && !enter.error) return null;
  return (
    <form
      class="stack"
      data-testid="pin-login"
      onSubmit={(event) => {
        event.preventDefault();
        // Other keys, such as those of a scanner, are no attempt.
        if (PIN.test(pin)) enter.run();
      }}
    >
      <div class="actions" role="group" aria-label={t('pin.who')}>
        {shown.map(({ user_id: id, full_name: name, username }) => (
          <button key={id} type="button" aria-pressed={id === worker?.user_id} onClick={() => choose(id)}>
            {shown.some((other) => other.full_name === name && other.user_id !== id)
              ? `${name} (${username})`
              : name}
          </button>
        ))}
      </div>
      {worker && (
        <Field
          label={t('pin.field', { name: worker.full_name })}
          type="password"
          inputMode="numeric"
          maxLength={MAX_PIN_LENGTH}
          value={pin}
          onValue={setPin}
          ref={field}
        />
      )}
      <Problem text={enter.error} />
      {worker && (
        <button type="submit" class="primary" disabled={enter.isBusy || !PIN.test(pin)}>
          {t('pin.submit')}
        </button>
      )}
      <p>{t('pin.orPassword')}</p>
    </form>
  );
}

/** Whether somebody has begun to enter a password. */
const isTyping = () =>
  document.activeElement instanceof HTMLInputElement &&
  document.activeElement.type === 'password' &&
  document.activeElement.value !== '';
