import { useId, useState } from 'preact/hooks';
import type { CustomerMatch } from '../../../sdk/typescript/src/index.js';
import { api, session } from '../session/session.js';
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

/** Finds a customer by a name, also misspelt, or by the user code: a combobox. Arrow keys mark a customer, Enter chooses it. */
export function CustomerSearch({ label, onChoose }: Props) {
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(-1);
  const id = useId();
  const query = text.trim();
  const found = useLoad(
    async (signal) => {
      if (query.length < SHORTEST) return [];
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      // The search for similar names does not look at codes, which have digits.
      const advanced = !/\d/.test(query);
      return (await api().customers.search({ q: query, advanced, limit: SHOWN }, { signal })).data;
    },
    [query],
  );
  const matches = query.length < SHORTEST ? [] : (found.data ?? []);
  const search = (value: string) => {
    setText(value);
    setMarked(-1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [only] = matches.length === 1 ? matches : [];
    const chosen = matches[marked] ?? only;
    if (event.key === 'ArrowDown') setMarked((marked + 1) % Math.max(1, matches.length));
    else if (event.key === 'ArrowUp') setMarked(marked <= 0 ? matches.length - 1 : marked - 1);
    else if (event.key === 'Escape' && text !== '') search('');
    else if (event.key !== 'Enter' || query === '') return;
    else if (chosen && !found.isLoading) onChoose(chosen);
    // Of several customers, the first is only marked. A second Enter chooses it.
    else setMarked(0);
    event.preventDefault();
  };
  const hasNone = query.length >= SHORTEST && !found.isLoading && !found.error && matches.length === 0;
  return (
    <div class="search">
      <Field
        label={label}
        hint={t('customer.hint')}
        value={text}
        onValue={search}
        onKeyDown={onKeyDown}
        combobox={{
          role: 'combobox',
          'aria-expanded': matches.length > 0,
          'aria-controls': `${id}-list`,
          'aria-autocomplete': 'list',
          ...(matches[marked] ? { 'aria-activedescendant': `${id}-${marked}` } : {}),
        }}
      />
      <Progress isOn={found.isLoading} />
      <Problem text={found.error} />
      <ul
        class="matches"
        id={`${id}-list`}
        role="listbox"
        aria-label={t('customer.matches')}
        hidden={matches.length === 0}
      >
        {matches.map((match, index) => (
          <li
            key={match.courier_customer_id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === marked}
            class={index === marked ? 'match match-chosen' : 'match'}
            onClick={() => onChoose(match)}
          >
            <strong>{match.user_code}</strong> {match.first_name} {match.last_name}
            {session.value?.user.role !== 'courier' && <span class="muted"> {match.courier_name}</span>}
          </li>
        ))}
      </ul>
      <p class="field-hint" role="status">
        {hasNone && t('customer.none')}
      </p>
    </div>
  );
}
