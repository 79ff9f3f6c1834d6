import type { Table } from '@tanstack/table-core';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import type { Listed } from './listed.js';
import type { ListColumn } from './table.js';

type Props<Row> = {
  table: Table<Row>;
  shown: ListColumn<Row>[];
  title: string;
  canSelect: boolean;
  of: Listed<Row>;
  nameOf: (row: Row) => string;
  onOpen: (row: Row) => void;
  isOpen?: (row: Row) => boolean;
};

/**
 * The rows of a list. `j` and `k` or the arrows move between rows, Enter opens one, `x` selects it. These keys work while a row or the
 * table has the focus, and nowhere else (WCAG 2.1.4).
 */
export function Grid<Row>({ table, shown, title, canSelect, of, nameOf, onOpen, isOpen }: Props<Row>) {
  const region = useRef<HTMLDivElement>(null);
  const rows = table.getRowModel().rows;
  const { state, change } = of.address;
  // The keys of the table work at once if nothing else has the focus.
  useEffect(() => {
    if (document.activeElement === document.body) region.current?.focus({ preventScroll: true });
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...(region.current?.querySelectorAll<HTMLElement>('tbody tr') ?? [])];
    const at = items.findIndex((item) => item === document.activeElement);
    const isInside = at === -1 && document.activeElement !== region.current;
    const step = STEPS[event.key];
    // A button or a box in a row has keys of its own.
    if (isInside && step === undefined) return;
    if (step !== undefined) items[Math.max(0, Math.min(items.length - 1, at + step))]?.focus();
    else if (event.key === 'Enter' && rows[at]) onOpen(rows[at].original);
    else if (event.key === 'x' && canSelect) rows[at]?.toggleSelected();
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={region}
      class="table grid"
      tabIndex={0}
      role="region"
      aria-label={title}
      aria-busy={of.loaded.isLoading}
      onKeyDown={onKeyDown}
    >
      <table>
        <caption class="unseen">{title}</caption>
        <thead>
          <tr>
            {canSelect && (
              <th scope="col" class="box">
                <input
                  type="checkbox"
                  aria-label={t('list.selectAll')}
                  checked={table.getIsAllRowsSelected()}
                  onChange={() => table.toggleAllRowsSelected()}
                />
              </th>
            )}
            {shown.map(({ id, title: heading, sortBy, isNumber }) => (
              <th
                key={id}
                scope="col"
                class={isNumber ? 'number' : undefined}
                aria-sort={sortBy ? sortOf(state.sort, sortBy) : undefined}
              >
                {sortBy ? (
                  <button
                    type="button"
                    class="sort"
                    onClick={() => change({ sort: nextSort(state.sort, sortBy) })}
                  >
                    {heading}
                    <span aria-hidden="true">{SIGNS[sortOf(state.sort, sortBy)]}</span>
                  </button>
                ) : (
                  heading
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr
              key={row.id}
              tabIndex={index === 0 ? 0 : -1}
              class={isOpen?.(row.original) ? 'row-open' : undefined}
              aria-current={isOpen?.(row.original) ? true : undefined}
              onClick={({ target }) => {
                if (target instanceof Element && !target.closest('a, button, input, label'))
                  onOpen(row.original);
              }}
            >
              {canSelect && (
                <td class="box">
                  <input
                    type="checkbox"
                    aria-label={t('list.select', { name: nameOf(row.original) })}
                    checked={row.getIsSelected()}
                    onChange={() => row.toggleSelected()}
                  />
                </td>
              )}
              {shown.map(({ id, cell, isNumber }) => (
                <td key={id} class={isNumber ? 'number' : undefined}>
                  {cell(row.original)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const STEPS: Record<string, number | undefined> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

type Sort = 'ascending' | 'descending' | 'none';

const SIGNS: Record<Sort, string> = { ascending: ' ↑', descending: ' ↓', none: '' };

const sortOf = (sort: string, field: string): Sort =>
  sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none';

/** First the smallest, then the largest, then the order of the service. */
const nextSort = (sort: string, field: string): string =>
  sort === field ? `-${field}` : sort === `-${field}` ? '' : field;
