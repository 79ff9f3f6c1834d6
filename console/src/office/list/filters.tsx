import { useEffect, useId, useState } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { Choice, Field } from '../../ui/parts.js';
import type { ListAddress } from './address.js';

export type Filter = {
  name: string;
  label: string;
  /** Under "More filters", because few people need it. */
  isMore?: boolean;
} & (
  | {
      options: [value: string, text: string][];
      /** Several values can be chosen. The address has commas between them. */
      isMany?: boolean;
    }
  | { type: 'text' | 'date' }
  /** Set by a link, and shown as a chip only. */
  | { type: 'chip' }
);

type Props = { filters: Filter[]; of: ListAddress };

/** The filters of a list, and a chip for each that is set, which removes it. */
export function Filters({ filters, of }: Props) {
  const { state, change } = of;
  const more = filters.filter(({ isMore }) => isMore);
  const chips = filters.filter(({ name }) => state.filters[name]);
  return (
    <>
      {filters
        .filter(({ isMore }) => !isMore)
        .map((filter) => (
          <FilterField key={filter.name} filter={filter} of={of} />
        ))}
      {more.length > 0 && (
        <details class="view-menu">
          <summary class="button">{t('list.moreFilters')}</summary>
          <div class="view-body stack">
            {more.map((filter) => (
              <FilterField key={filter.name} filter={filter} of={of} />
            ))}
          </div>
        </details>
      )}
      {chips.length > 0 && (
        <ul class="chips" aria-label={t('list.filters')}>
          {chips.map((filter) => (
            <li key={filter.name}>
              <button
                type="button"
                class="chip"
                onClick={() => change({ filters: { ...state.filters, [filter.name]: '' } })}
              >
                {filter.label}: {textOfFilter(filter, state.filters[filter.name] ?? '')}{' '}
                <span aria-hidden="true">✕</span>
                <span class="unseen">{t('list.removeFilter')}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function textOfFilter(filter: Filter, value: string): string {
  if (!('options' in filter)) return value;
  const values = filter.isMany ? valuesOf(value) : [value];
  return values.map((each) => filter.options.find(([option]) => option === each)?.[1] ?? each).join(', ');
}

/** Returns the values of a filter that has several. */
export const valuesOf = (value = ''): string[] => value.split(',').filter(Boolean);

function FilterField({ filter, of: { state, change } }: { filter: Filter; of: ListAddress }) {
  const { name, label } = filter;
  const value = state.filters[name] ?? '';
  const set = (chosen: string) => change({ filters: { ...state.filters, [name]: chosen } });
  if ('options' in filter)
    return filter.isMany ? (
      <Many label={label} options={filter.options} values={valuesOf(value)} onValues={set} />
    ) : (
      <Choice
        label={label}
        value={value}
        onValue={set}
        options={[['', t('common.all')], ...filter.options]}
      />
    );
  if (filter.type === 'chip') return null;
  return <TypedFilter label={label} type={filter.type} value={value} onTake={set} />;
}

type TypedProps = { label: string; type: 'text' | 'date'; value: string; onTake: (text: string) => void };

/**
 * A filter that a person types. It is taken when it is whole, so that the address has no half words; what is typed until
 * then stays in the field while rows arrive.
 */
function TypedFilter({ label, type, value, onTake }: TypedProps) {
  const [draft, setDraft] = useState(value);
  // The way back, and the chip, show another value.
  useEffect(() => setDraft(value), [value]);
  return (
    <Field
      label={label}
      type={type}
      value={draft}
      onValue={setDraft}
      onChange={({ currentTarget }) => {
        const text = currentTarget.value.trim();
        // The first digit of a year makes a day of the year 2.
        if (type === 'date' && text.startsWith('0')) return;
        if (text !== value) onTake(text);
      }}
    />
  );
}

type ManyProps = {
  label: string;
  options: [value: string, text: string][];
  values: string[];
  onValues: (value: string) => void;
};

/** A choice of several values. */
function Many({ label, options, values, onValues }: ManyProps) {
  const id = useId();
  const toggle = (option: string) =>
    onValues(
      options
        .map(([each]) => each)
        .filter((each) => values.includes(each) !== (each === option))
        .join(','),
    );
  const text = options.filter(([option]) => values.includes(option)).map(([, each]) => each);
  return (
    <div class="field" role="group" aria-labelledby={id}>
      <span id={id} class="label">
        {label}
      </span>
      <details class="view-menu many">
        <summary class="button">{text.length > 0 ? text.join(', ') : t('common.all')}</summary>
        <div class="view-body">
          {options.map(([option, title]) => (
            <label key={option} class="check">
              <input type="checkbox" checked={values.includes(option)} onChange={() => toggle(option)} />
              {title}
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}
