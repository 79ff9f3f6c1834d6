import { CursorAheadError } from './errors.js';

/** A page of any list of the contract. */
export type AnyPage = { data: unknown[]; meta?: object; total?: number };

/** The parameter that selects the page: a number, or where the previous page ended. */
export type Paging = 'page' | 'before' | 'after';

/**
 * A list. `await` it for one page, or use `for await` for the records of all pages. The request is sent then, and once
 * for each page. Iterated pages are large, see `pageSize` of the client. A record that leaves the list while you read hides another one, so do not filter by a field that changes meanwhile.
 */
export type Listing<Page extends AnyPage> = Promise<Page> &
  AsyncIterable<Page['data'][number]> & {
    /** All pages, for their `meta`. */
    pages(): AsyncIterable<Page>;
  };

type Filters = Record<string, unknown>;

export function listingOf<Page extends AnyPage>(
  paging: Paging,
  filters: Filters,
  pageSize: number,
  fetchPage: (filters: Filters) => Promise<Page>,
): Listing<Page> {
  let first: Promise<Page> | undefined;
  const fetchFirst = () => (first ??= fetchPage(filters));

  async function* pages(): AsyncGenerator<Page> {
    const first = { limit: pageSize, ...filters };
    for (let next: Filters | undefined = first; next;) {
      const page: Page = await fetchPage(next);
      refuseCursorAhead(next, page);
      yield page;
      next = nextOf(paging, next, page);
    }
  }

  async function* records(): AsyncGenerator<Page['data'][number]> {
    // Records are objects, never promises.
    for await (const page of pages()) yield* page.data as Awaited<Page['data'][number]>[];
  }

  return {
    then: (onPage, onError) => fetchFirst().then(onPage, onError),
    catch: (onError) => fetchFirst().catch(onError),
    finally: (onEnd) => fetchFirst().finally(onEnd),
    [Symbol.toStringTag]: 'Listing',
    [Symbol.asyncIterator]: records,
    pages,
  };
}

/** A list of events whose cursor is above the newest one would stay empty for ever. A single page says so in its `meta`. */
function refuseCursorAhead(filters: Filters, page: AnyPage): void {
  const meta: Record<string, unknown> = { ...page.meta };
  if (meta['is_ahead'] === true)
    throw new CursorAheadError(Number(filters['after']), Number(meta['last_sequence']));
}

/** Returns the filters of the next page, or undefined after the last. */
function nextOf(paging: Paging, filters: Filters, page: AnyPage): Filters | undefined {
  const meta: Record<string, unknown> = { ...page.meta };
  if (paging === 'before') {
    const before = meta['next_before'];
    return before === null || before === undefined ? undefined : { ...filters, before };
  }
  if (paging === 'after')
    return meta['has_more'] === true ? { ...filters, after: meta['next_after'] } : undefined;
  const current = typeof filters['page'] === 'number' ? filters['page'] : 1;
  const isLast =
    typeof meta['total_pages'] === 'number'
      ? current >= meta['total_pages']
      : isLastByCount(filters, current, page);
  return isLast || page.data.length === 0 ? undefined : { ...filters, page: current + 1 };
}

/** The list of customers has `total` and no number of pages. */
function isLastByCount({ limit }: Filters, current: number, { data, total = 0 }: AnyPage): boolean {
  // Every page but the last is full, so that the first page tells the default limit.
  const size = typeof limit === 'number' ? limit : data.length;
  return current * size >= total;
}
