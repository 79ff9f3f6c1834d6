import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListName } from '../../preferences/choices.js';
import { columnsOf } from '../../preferences/preferences.js';
import { t } from '../../texts/texts.js';
import { Empty, Field, Progress } from '../../ui/parts.js';
import type { ListAddress } from './address.js';
import { csvOf } from './csv.js';
import { saveFile } from './export.js';
import { Filters, type Filter } from './filters.js';
import { Grid } from './grid.js';
import type { Listed } from './listed.js';
import { Pager } from './pager.js';
import { useTable, type ListColumn } from './table.js';
import { ViewMenu } from './view-menu.js';

export type BulkAction<Row> = {
  label: string;
  isDanger?: boolean;
  /** Which of the selected rows it changes. */
  suits?: (row: Row) => boolean;
  run: (rows: Row[]) => void;
};

type Props<Row> = {
  /** The name of the page, which names its views and files too. A second list of a page has its address: `unknown/claims`. */
  page: ListName;
  title: string;
  of: Listed<Row>;
  columns: ListColumn<Row>[];
  keyOf: (row: Row) => string;
  /** How screen readers name a row. */
  nameOf: (row: Row) => string;
  /** Opens a row. */
  onOpen: (row: Row) => void;
  /** Whether a row is the object that is open beside the list. */
  isOpen?: (row: Row) => boolean;
  search?: { label: string; hint?: string };
  filters?: Filter[];
  bulk?: BulkAction<Row>[];
  empty: { title: string; hint: string };
  /** The object that is open. */
  panel?: ComponentChildren;
};

/** The list of a page: search, filters, columns, views, selection, export, pages, and an object beside it. */
export function DataList<Row>(props: Props<Row>) {
  const { page, title, of, columns, keyOf, search, filters = [], bulk = [], empty, panel } = props;
  const { address, loaded } = of;
  const { state, change } = address;
  const rows = loaded.data?.rows ?? [];
  const table = useTable({
    rows,
    columns,
    keyOf,
    shown: shownOf(columns, state.columns) ?? shownOf(columns, columnsOf(page)),
    sort: state.sort,
  });
  const shown = columns.filter(({ id }) => table.getColumn(id)?.getIsVisible());
  const chosen = table.getSelectedRowModel().rows.map(({ original }) => original);
  const isFiltered = state.search !== '' || filters.some(({ name }) => state.filters[name]);
  const isPanelOpen = Boolean(panel);

  return (
    <div class={isPanelOpen ? 'list list-beside' : 'list'}>
      <div class="list-main">
        <div class="list-tools">
          {search && <SearchField of={address} {...search} />}
          <Filters filters={filters} of={address} />
          <ViewMenu
            page={page}
            columns={columns}
            of={address}
            isShown={(id) => shown.some((column) => column.id === id)}
          >
            <button
              type="button"
              disabled={rows.length === 0}
              onClick={() =>
                saveFile(csvOf(shown, chosen.length > 0 ? chosen : rows), `${page.replaceAll('/', '-')}.csv`)
              }
            >
              {chosen.length > 0 ? t('list.exportSelected', { count: chosen.length }) : t('list.export')}
            </button>
          </ViewMenu>
        </div>
        {chosen.length > 0 && (
          <div class="bulk" role="region" aria-label={t('list.selection')}>
            <strong>{t('list.selected', { count: chosen.length })}</strong>
            {bulk.map(({ label, run, isDanger, suits = () => true }) => (
              <button
                key={label}
                type="button"
                class={isDanger ? 'danger' : undefined}
                disabled={!chosen.some(suits)}
                onClick={() => run(chosen.filter(suits))}
              >
                {label}
              </button>
            ))}
            <button type="button" class="quiet" onClick={() => table.resetRowSelection(true)}>
              {t('list.clearSelection')}
            </button>
          </div>
        )}
        <Progress isOn={loaded.isLoading} />
        {loaded.error && (
          <div class="problem" role="alert">
            {loaded.error}{' '}
            <button type="button" class="quiet" onClick={loaded.reload}>
              {t('common.retry')}
            </button>
          </div>
        )}
        {loaded.data && rows.length === 0 && !loaded.error && (
          <Empty title={isFiltered ? t('list.noMatch') : empty.title}>
            {isFiltered ? (
              <button
                type="button"
                onClick={() =>
                  change({ search: '', filters: Object.fromEntries(filters.map(({ name }) => [name, ''])) })
                }
              >
                {t('list.clearFilters')}
              </button>
            ) : (
              empty.hint
            )}
          </Empty>
        )}
        {!loaded.data && loaded.isLoading && <Skeleton />}
        {rows.length > 0 && (
          <Grid {...props} table={table} shown={shown} canSelect={bulk.length > 0} title={title} />
        )}
        {loaded.data && <Pager data={loaded.data} of={address} />}
      </div>
      {panel}
    </div>
  );
}

/** The wanted columns that the list has. Undefined if it has none of them, as after an upgrade of the service. */
function shownOf<Row>(columns: ListColumn<Row>[], wanted: string[] | undefined): string[] | undefined {
  const known = wanted?.filter((id) => columns.some((column) => column.id === id)) ?? [];
  return known.length > 0 ? known : undefined;
}

/** The shape of the rows that are loading. */
const Skeleton = () => (
  <div class="skeleton" aria-hidden="true">
    {Array.from({ length: 10 }, (_, index) => (
      <div key={index} />
    ))}
  </div>
);

const TYPING_MS = 250;

/** Searches when the person pauses, and at once with Enter. */
function SearchField({ of, label, hint }: { of: ListAddress; label: string; hint?: string }) {
  const [text, setText] = useState(of.state.search);
  const timer = useRef(0);
  const latest = useRef(of);
  latest.current = of;
  // The way back shows another search.
  useEffect(() => setText(of.state.search), [of.state.search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (value: string) => {
    clearTimeout(timer.current);
    if (value.trim() !== latest.current.state.search)
      latest.current.change({ search: value.trim() }, { isTyping: true });
  };
  return (
    <div class="list-search" data-search>
      <Field
        label={label}
        hint={hint}
        value={text}
        maxLength={100}
        onValue={(value) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => search(value), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') search(event.currentTarget.value);
          if (event.key === 'ArrowDown') document.querySelector<HTMLElement>('.grid tbody tr')?.focus();
        }}
      />
    </div>
  );
}
