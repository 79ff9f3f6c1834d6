import { dateTime, t, textOf } from '../../texts/texts.js';
import { single } from '../../device/single.js';

type Hints = { hint: string; previous_hint: string | null; previous_ends_at: string | null };

/** The end of a secret, and that of the one before while it works. */
export const SecretEnding = ({ hint, previous_hint, previous_ends_at }: Hints) => (
  <>
    <span class="mono">…{hint}</span>
    {previous_hint && previous_ends_at && (
      <p class="muted">{t('tokens.previous', { hint: previous_hint, at: dateTime(previous_ends_at) })}</p>
    )}
  </>
);

type ActionsProps<Action extends string> = {
  actions: readonly Action[];
  /** The prefix of the texts of the actions. */
  texts: string;
  name: string;
  onOpen: (action: Action) => void;
};

/** What can be done with the row of a list. */
export const RowActions = <Action extends string>({ actions, texts, name, onOpen }: ActionsProps<Action>) => (
  <>
    {actions.map((action) => (
      <button key={action} type="button" class="quiet" onClick={single(() => onOpen(action))}>
        {textOf(texts, action)}
        <span class="unseen"> {name}</span>
      </button>
    ))}
  </>
);
