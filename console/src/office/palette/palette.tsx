import { useId, useState } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Dialog, Field, Problem, Progress } from '../../ui/parts.js';
import { openAddress } from '../../ui/router.js';
import { localEntries, remoteEntries, type Entry } from './entries.js';

const PAUSE_MS = 150;

type Props = { role: string; onClose: () => void };

/** Finds any page, action, customer, courier, parcel or manifest. Arrow keys mark one, Enter opens it. A scan never stays in it. */
export function Palette({ role, onClose }: Props) {
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(0);
  const id = useId();
  const query = text.trim();
  const remote = useLoad(
    async (signal) => {
      if (query === '') return [];
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      return remoteEntries(query, role, signal);
    },
    [query],
  );
  const entries = [
    ...localEntries(query, role),
    ...(query === '' || remote.isLoading ? [] : (remote.data ?? [])),
  ];
  const open = ({ link }: Entry) => {
    onClose();
    openAddress(link);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = Math.max(1, entries.length);
    const entry = entries[marked];
    if (event.key === 'ArrowDown') setMarked((marked + 1) % count);
    else if (event.key === 'ArrowUp') setMarked((marked + count - 1) % count);
    else if (event.key === 'Enter') {
      if (entry) open(entry);
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('palette.title')} onClose={onClose}>
      <div class="palette">
        <Field
          label={t('palette.label')}
          value={text}
          onValue={(value) => {
            setText(value);
            setMarked(0);
          }}
          onKeyDown={onKeyDown}
          maxLength={100}
          combobox={{
            role: 'combobox',
            'aria-expanded': entries.length > 0,
            'aria-controls': `${id}-list`,
            'aria-autocomplete': 'list',
            ...(entries[marked] ? { 'aria-activedescendant': `${id}-${marked}` } : {}),
          }}
        />
        <Progress isOn={remote.isLoading} />
        <Problem text={remote.error} />
        <ul
          class="matches"
          id={`${id}-list`}
          role="listbox"
          aria-label={t('palette.results')}
          hidden={entries.length === 0}
        >
          {entries.map((entry, index) => (
            <li
              key={`${entry.kind} ${entry.link} ${entry.title}`}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === marked}
              class={index === marked ? 'match match-chosen' : 'match'}
              ref={(element) => {
                if (index === marked) element?.scrollIntoView({ block: 'nearest' });
              }}
              onClick={() => open(entry)}
            >
              <span class="palette-kind">{entry.kind}</span> <strong>{entry.title}</strong>
              {entry.detail && <span class="muted"> {entry.detail}</span>}
            </li>
          ))}
        </ul>
        <p class="field-hint" role="status">
          {entries.length === 0 && !remote.isLoading && t('palette.none')}
        </p>
      </div>
    </Dialog>
  );
}
