import { useState } from 'preact/hooks';
import { addTexts, dateTime, t } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Field, Problem } from '../../ui/parts.js';
import { api, session } from '../session.js';
import { pinEn, pinEs } from './texts.js';
import { listWorkers, MAX_PIN_LENGTH, noteOwnPin, type OwnPin } from './workers.js';

addTexts({ en: pinEn, es: pinEs });

/** Sets and deletes the own PIN. */
export function PinForm() {
  const [password, setPassword] = useState('');
  const [pin, setPin] = useState('');
  const [again, setAgain] = useState('');
  const [own, setOwn] = useState<OwnPin>();
  const here = useLoad(listWorkers, []);
  const listed = here.data?.find(({ user_id: id }) => id === session.value?.user.id)?.expires_at;
  const until = own ? own.remembered_until : listed;
  const [isTried, setIsTried] = useState(false);
  const isDifferent = (again !== '' || isTried) && again !== pin;
  const change = async (action: 'forget' | 'remove_pin') =>
    setOwn(noteOwnPin((await api().users.manageStationWorker({ action })).data));

  const save = useAction(async () => {
    const body = { action: 'set_pin', current_password: password, pin } as const;
    setOwn(noteOwnPin((await api().users.manageStationWorker(body)).data));
    for (const clear of [setPassword, setPin, setAgain]) clear('');
  });
  const forget = useAction(() => change('forget'));
  const remove = useAction(() => change('remove_pin'));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setIsTried(again !== pin);
        if (again === pin) save.run();
      }}
    >
      <p>{t('pin.hint')}</p>
      <p role="status">{stateText(own, until)}</p>
      <Field
        label={t('login.password')}
        type="password"
        value={password}
        onValue={setPassword}
        autocomplete="current-password"
      />
      <Field
        label={t('pin.new')}
        hint={t('pin.rule')}
        type="password"
        inputMode="numeric"
        maxLength={MAX_PIN_LENGTH}
        value={pin}
        onValue={setPin}
      />
      <Field
        label={t('pin.again')}
        type="password"
        inputMode="numeric"
        maxLength={MAX_PIN_LENGTH}
        value={again}
        onValue={setAgain}
        error={isDifferent ? t('pin.different') : undefined}
      />
      <Problem text={save.error ?? forget.error ?? remove.error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={save.isBusy}>
          {t('pin.set')}
        </button>
        {until && (
          <button type="button" disabled={forget.isBusy} onClick={() => forget.run()}>
            {t('pin.forget')}
          </button>
        )}
        {own?.has_pin !== false && (
          <button type="button" class="danger" disabled={remove.isBusy} onClick={() => remove.run()}>
            {t('pin.remove')}
          </button>
        )}
      </div>
    </form>
  );
}

function stateText(own: OwnPin | undefined, until: string | null | undefined): string {
  if (until) return t('pin.works', { at: dateTime(until) });
  if (!own) return '';
  return t(own.has_pin ? 'pin.notHere' : 'pin.none');
}
