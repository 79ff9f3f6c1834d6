import { createTable, getCoreRowModel, type ColumnDef, type Table } from '@tanstack/table-core';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { ExportValue } from './csv.js';

export type ListColumn<Row> = {
  id: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** The name of the field that the service sorts by. */
  sortBy?: string;
  /** Not shown before a person chooses it. */
  isHidden?: boolean;
} & ExportValue<Row>;

type Options<Row> = {
  rows: Row[];
  columns: ListColumn<Row>[];
  keyOf: (row: Row) => string;
  shown: string[] | undefined;
  sort: string;
};

/**
 * Returns the table of TanStack, which knows the shown columns and the selected rows. The service sorts, filters and divides into pages.
 * A page has 100 rows at most, so rows are not virtual: all of them are in the document, for the browser's search and for screen readers.
 */
export function useTable<Row>({ rows, columns, keyOf, shown, sort }: Options<Row>): Table<Row> {
  const [selected, setSelected] = useState<Record<string, boolean>>({});
  const definitions = useMemo(
    () =>
      columns.map((column): ColumnDef<Row> => ({
        id: column.id,
        accessorFn: column.text,
        enableSorting: column.sortBy !== undefined,
      })),
    [columns],
  );
  const table = useRef<Table<Row> | undefined>(undefined);
  table.current ??= createTable<Row>({
    data: rows,
    columns: definitions,
    state: {},
    onStateChange: () => undefined,
    renderFallbackValue: null,
    getCoreRowModel: getCoreRowModel(),
  });
  table.current.setOptions((last) => ({
    ...last,
    data: rows,
    columns: definitions,
    getRowId: keyOf,
    manualSorting: true,
    manualFiltering: true,
    manualPagination: true,
    state: {
      ...table.current?.initialState,
      rowSelection: selected,
      columnVisibility: Object.fromEntries(
        columns.map(({ id, isHidden }) => [id, shown ? shown.includes(id) : !isHidden]),
      ),
      sorting: sort ? [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }] : [],
    },
    onRowSelectionChange: (update) =>
      setSelected((last) => (typeof update === 'function' ? update(last) : update)),
  }));
  // Rows of another page are not changed by somebody who no longer sees them.
  const keys = rows.map(keyOf).join(' ');
  useEffect(() => setSelected({}), [keys]);
  return table.current;
}
