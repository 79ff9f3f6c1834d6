import { useMemo } from 'preact/hooks';
import { linkTo, officeAddress, officeLink, openAddress, route } from '../../ui/router.js';
import { queryOf, readState, type ListState } from './state.js';

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

/** Returns what the address says about the list in a part of an object of the office. Its query names the row that is open, in `of`. */
export function useTabAddress(
  parts: [page: string, ...parts: string[]],
): ListAddress & { shown: string | undefined } {
  const query = officeAddress.value?.query;
  const shown = query?.get('of') ?? undefined;
  const address = useAddress(query, shown, (opened, own) =>
    officeLink(parts, { ...Object.fromEntries(new URLSearchParams(own)), ...(opened ? { of: opened } : {}) }),
  );
  return { ...address, shown };
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
