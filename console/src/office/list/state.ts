// What a list shows, without the page's own library, so that tests outside of a browser can use it.

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

/**
 * Returns the order of a list for the service. The columns have names of the service, which refuses others, for example one that
 * somebody has typed into the address. `never` fits the names of every list.
 */
export const orderOf = (sort: string): { sort_by?: never; sort_dir?: 'ASC' | 'DESC' } =>
  sort ? { sort_by: sort.replace(/^-/, '') as never, sort_dir: sort.startsWith('-') ? 'DESC' : 'ASC' } : {};
