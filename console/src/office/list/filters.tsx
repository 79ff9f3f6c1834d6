import { t } from '../../texts/texts.js';
import { Choice, Field } from '../../ui/parts.js';
import type { ListAddress } from './address.js';

export type Filter = { name: string; label: string } & (
  | { options: [value: string, text: string][] }
  | { type: 'text' | 'date' }
  /** Set by a link, and shown as a chip only. */
  | { type: 'chip' }
);

/** The filters of a list, and a chip for each that is set, which removes it. */
export function Filters({ filters, of: { state, change } }: { filters: Filter[]; of: ListAddress }) {
  const set = (name: string, value: string) => change({ filters: { ...state.filters, [name]: value } });
  const chips = filters.filter(({ name }) => state.filters[name]);
  return (
    <>
      {filters.map((filter) => {
        const { name, label } = filter;
        const value = state.filters[name] ?? '';
        if ('type' in filter && filter.type === 'chip') return null;
        return 'options' in filter ? (
          <Choice
            key={name}
            label={label}
            value={value}
            onValue={(chosen) => set(name, chosen)}
            options={[['', t('common.all')], ...filter.options]}
          />
        ) : (
          <Field
            // A text is taken when the person leaves the field, so its address has no half words.
            key={`${name}-${value}`}
            label={label}
            type={filter.type === 'date' ? 'date' : 'text'}
            value={value}
            onValue={(text) => {
              if (filter.type === 'date' && (text === '' || /^\d{4}-\d\d-\d\d$/.test(text))) set(name, text);
            }}
            onKeyDown={({ key, currentTarget }) => {
              if (filter.type === 'text' && (key === 'Enter' || key === 'Tab'))
                set(name, currentTarget.value.trim());
            }}
          />
        );
      })}
      {chips.length > 0 && (
        <ul class="chips" aria-label={t('list.filters')}>
          {chips.map((filter) => {
            const value = state.filters[filter.name] ?? '';
            const text =
              'options' in filter ? (filter.options.find(([each]) => each === value)?.[1] ?? value) : value;
            return (
              <li key={filter.name}>
                <button type="button" class="chip" onClick={() => set(filter.name, '')}>
                  {filter.label}: {text} <span aria-hidden="true">✕</span>
                  <span class="unseen">{t('list.removeFilter')}</span>
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
