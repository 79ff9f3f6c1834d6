import { useLoad, type Loaded } from '../../ui/load.js';
import { useHashAddress, useListAddress, useTabAddress, type ListAddress } from './address.js';
import { type ListState } from './state.js';

/** One page of a list. A list that grows while it is read has `nextBefore` instead of a number of records. */
export type ListPage<Row> = {
  rows: Row[];
  total?: number;
  /** More records match than `total`. The service counts no further. */
  isCut?: boolean;
  /** Something about all records, for example their weight. */
  note?: string;
  nextBefore?: string | null;
};

export type Listed<Row> = {
  address: ListAddress;
  loaded: Loaded<ListPage<Row>>;
};

type Load<Row> = (state: ListState, signal: AbortSignal) => Promise<ListPage<Row>>;

/** Loads what the address of a page of the office says. */
export const useList = <Row>(page: string, load: Load<Row>): Listed<Row> =>
  useListed(useListAddress(page), load);

/** Loads what the address of a page of couriers says. */
export const useHashList = <Row>(page: string, load: Load<Row>): Listed<Row> =>
  useListed(useHashAddress(page), load);

/** Loads what the address of a part of an object says, and returns which row is open. */
export function useTabList<Row>(
  parts: [page: string, ...parts: string[]],
  load: Load<Row>,
): Listed<Row> & { shown: string | undefined } {
  const address = useTabAddress(parts);
  return { ...useListed(address, load), shown: address.shown };
}

function useListed<Row>(address: ListAddress, load: Load<Row>): Listed<Row> {
  const { search, filters, sort, page: shown, before } = address.state;
  const loaded = useLoad(
    (signal) => load(address.state, signal),
    [search, JSON.stringify(filters), sort, shown, before],
  );
  return { address, loaded };
}

export const PAGE_SIZE = 50;
