import { useState } from 'preact/hooks';
import type { CustomerMatch } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Field, Problem, Progress } from '../ui/parts.js';

export type Customer = Pick<
  CustomerMatch,
  'user_code' | 'first_name' | 'last_name' | 'courier_id' | 'courier_name'
>;

type Props = { label: string; onChoose: (customer: Customer) => void };

const SHORTEST = 2;
const SHOWN = 6;
const PAUSE_MS = 150;

/** Finds a customer by a name, also misspelt, or by the user code. Arrow keys and Enter choose. */
export function CustomerSearch({ label, onChoose }: Props) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const query = text.trim();
  const found = useLoad(
    async (signal) => {
      if (query.length < SHORTEST) return [];
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      return (await api().customers.search({ q: query, advanced: true, limit: SHOWN }, { signal })).data;
    },
    [query],
  );
  const matches = query.length < SHORTEST ? [] : (found.data ?? []);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const match = matches[chosen];
    if (step !== 0) setChosen((chosen + step + matches.length) % Math.max(1, matches.length));
    else if (event.key === 'Enter' && match) onChoose(match);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <Field
        label={label}
        hint={t('customer.hint')}
        value={text}
        onValue={(value) => {
          setText(value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Progress isOn={found.isLoading} />
      <Problem text={found.error} />
      {matches.length > 0 && (
        <ul class="matches">
          {matches.map((match, index) => (
            <li key={match.courier_customer_id}>
              <button
                type="button"
                class={index === chosen ? 'match match-chosen' : 'match'}
                onClick={() => onChoose(match)}
              >
                <strong>{match.user_code}</strong> {match.first_name} {match.last_name}
                <span class="muted"> {match.courier_name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {query.length >= SHORTEST && !found.isLoading && !found.error && matches.length === 0 && (
        <p class="field-hint">{t('customer.none')}</p>
      )}
    </div>
  );
}
