import { useMemo } from 'preact/hooks';
import { linkTo, officeAddress, officeLink, openAddress, route } from '../../ui/router.js';

/** What a list shows. All of it is in the address, so that a reload, a bookmark and the way back show the same. */
export type ListState = {
  search: string;
  /** The chosen values of the filters, by their names. */
  filters: Record<string, string>;
  /** The field, with a minus in front of it if the largest comes first. Empty: the order of the service. */
  sort: string;
  page: number;
  /** Where a list begins that has no page numbers: the last record of the part before. */
  before: string;
  /** The shown columns. Undefined: those that the list shows by default. */
  columns: string[] | undefined;
};

/** Names in the address that are no filters. `of` and `new` belong to an object and to a dialog. */
const OWN = new Set(['search', 'sort', 'page', 'before', 'columns', 'of', 'new']);

export function readState(query: URLSearchParams): ListState {
  const page = Number(query.get('page') ?? 1);
  return {
    search: query.get('search') ?? '',
    filters: Object.fromEntries([...query].filter(([name]) => !OWN.has(name))),
    sort: query.get('sort') ?? '',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    before: query.get('before') ?? '',
    columns: query.get('columns')?.split(',').filter(Boolean),
  };
}

/** Returns the query of the address. What a list shows by default is not in it. */
export function queryOf({ search, filters, sort, page, before, columns }: ListState): Record<string, string> {
  return {
    ...(search ? { search } : {}),
    ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')),
    ...(sort ? { sort } : {}),
    ...(page > 1 ? { page: String(page) } : {}),
    ...(before ? { before } : {}),
    ...(columns ? { columns: columns.join(',') } : {}),
  };
}

type Change = Partial<ListState>;

export type ListAddress = {
  state: ListState;
  /** Shows something else. The way back leads here again, except while a person types. */
  change: (changes: Change, options?: { isTyping?: boolean }) => void;
  /** Returns the address of an object beside the list, or of the list itself. `extra` names what the address of the object needs. */
  linkTo: (argument?: string, extra?: Record<string, string>) => string;
  /** Returns the address of the list with the query of a view. `part` is that of a second list of the page. */
  viewLink: (query: string, part?: string) => string;
};

/** Returns what the address says about the list of a page of the office. */
export function useListAddress(page: string): ListAddress {
  const at = officeAddress.value;
  return useAddress(at?.query, at?.argument, (shown, query) =>
    officeLink(shown ? [page, shown] : page, query),
  );
}

/** Returns what the address says about the list of a page of couriers. */
export function useHashAddress(page: string): ListAddress {
  const { query, argument } = route.value;
  return useAddress(query, argument, (shown, shownQuery) => linkTo(page, shown, shownQuery));
}

type Link = (argument: string | undefined, query: URLSearchParams | Record<string, string>) => string;

function useAddress(
  query: URLSearchParams | undefined,
  argument: string | undefined,
  link: Link,
): ListAddress {
  const text = query?.toString() ?? '';
  const state = useMemo(() => readState(new URLSearchParams(text)), [text]);
  return {
    state,
    change: (changes, { isTyping = false } = {}) => {
      // Another choice begins at its first page.
      const isSamePart = 'page' in changes || 'before' in changes || 'columns' in changes;
      const next = { ...state, ...(isSamePart ? {} : { page: 1, before: '' }), ...changes };
      openAddress(link(argument, queryOf(next)), { isSame: isTyping });
    },
    linkTo: (shown, extra = {}) => link(shown, { ...queryOf(state), ...extra }),
    viewLink: (view, part) => link(part, new URLSearchParams(view)),
  };
}
