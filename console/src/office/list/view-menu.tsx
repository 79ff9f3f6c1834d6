import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ListName } from '../../preferences/choices.js';
import {
  columnsOf,
  refusal,
  removeView,
  saveColumns,
  saveView,
  viewsOf,
} from '../../preferences/preferences.js';
import { t } from '../../texts/texts.js';
import { Field, Problem } from '../../ui/parts.js';
import { type ListAddress } from './address.js';
import { queryOf } from './state.js';
import type { ListColumn } from './table.js';

type Props<Row> = {
  page: ListName;
  columns: ListColumn<Row>[];
  of: ListAddress;
  isShown: (column: string) => boolean;
  children: ComponentChildren;
};

/** Which columns are shown, the views of the person, and the export. */
export function ViewMenu<Row>({
  page,
  columns,
  of: { state, change, viewLink },
  isShown,
  children,
}: Props<Row>) {
  const [name, setName] = useState('');
  // `unknown/claims` is a list of the page `unknown`.
  const [, part] = page.split('/');
  const chosen = columnsOf(page);
  // A view goes on to show what it showed, whatever columns the person chooses later.
  const viewed = { ...state, columns: state.columns ?? chosen };
  const query = new URLSearchParams(queryOf(viewed)).toString();

  const showStandard = () => {
    if (chosen) saveColumns(page, null);
    change({ columns: undefined });
  };
  const toggle = (id: string) => {
    const ids = columns
      .map((column) => column.id)
      .filter((each) => (each === id ? !isShown(each) : isShown(each)));
    // A table without columns would show nothing.
    if (ids.length > 0) change({ columns: ids });
  };
  return (
    <details class="view-menu">
      <summary class="button">{t('list.view')}</summary>
      <div class="view-body stack">
        <fieldset>
          <legend>{t('list.columns')}</legend>
          {columns.map(({ id, title }) => (
            <label key={id} class="check">
              <input type="checkbox" checked={isShown(id)} onChange={() => toggle(id)} />
              {title}
            </label>
          ))}
          {state.columns && (
            <button type="button" class="quiet" onClick={() => saveColumns(page, state.columns ?? null)}>
              {t('list.keepColumns')}
            </button>
          )}
          {(chosen ?? state.columns) && (
            <button type="button" class="quiet" onClick={showStandard}>
              {t('list.defaultColumns')}
            </button>
          )}
        </fieldset>
        <form
          class="view-save"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() === '') return;
            saveView(page, { name: name.trim(), query });
            setName('');
          }}
        >
          <Field
            label={t('list.viewName')}
            value={name}
            onValue={setName}
            maxLength={40}
            hint={t('list.viewHint')}
          />
          <button type="submit" disabled={name.trim() === ''}>
            {t('list.saveView')}
          </button>
        </form>
        {viewsOf(page).length > 0 && (
          <ul class="views" aria-label={t('list.views')}>
            {viewsOf(page).map((view) => (
              <li key={view.name}>
                <a href={viewLink(view.query, part)}>{view.name}</a>
                <button type="button" class="quiet" onClick={() => removeView(page, view.name)}>
                  {t('list.removeView')}
                  <span class="unseen"> {view.name}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
        {refusal.value && <Problem text={refusal.value} />}
        {children}
      </div>
    </details>
  );
}
