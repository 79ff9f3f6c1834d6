import type { OutboundRequest } from '../../platform/outbound/client.js';
import type { ReadableResponse } from '../customers/public.js';
import { headerOf, type Answered } from './course.js';
import { found, type ListCheck } from './list-check.js';
import { isSuccess } from './refusal.js';

/** Numbers of records that a page usually has. */
const PAGE_SIZES = new Set([
  ...[10, 15, 20, 25, 30, 40, 50, 100, 150, 200, 250, 300, 400, 500, 1_000, 2_000, 2_500, 5_000],
  ...[10_000, 20_000, 50_000],
]);

/** Finds a list that is only the first page: by what the response says, or because the second page has other customers. */
export async function findPages(
  check: ListCheck,
  { answer, list, request }: { answer: Answered; list: ReadableResponse; request: OutboundRequest },
): Promise<void> {
  const stated = statedPages(answer, list);
  if (stated !== undefined) found(check, 'pagination_cut', answer, stated);
  else if (PAGE_SIZES.has(list.received)) await askSecondPage(check, list, request);
}

async function askSecondPage(
  check: ListCheck,
  list: ReadableResponse,
  request: OutboundRequest,
): Promise<void> {
  const url = new URL(request.url);
  const page = Number(url.searchParams.get('page') ?? '1');
  url.searchParams.set('page', String(Number.isInteger(page) ? page + 1 : 2));
  const second = await check.course.ask('page', { ...request, url: url.href });
  if (second?.outcome !== 'answered' || !isSuccess(second) || second.isCut) return;
  const other = await check.readResponse(second.body);
  if ('error' in other || other.firstCode === null || other.firstCode === list.firstCode) return;
  found(
    check,
    'pagination_cut',
    second,
    `${list.received} records, and ${other.received} others with page=2`,
  );
}

/** Returns what the response says about further pages, or undefined. */
function statedPages(answer: Answered, { statesMore }: ReadableResponse): string | undefined {
  const link = headerOf(answer, 'link');
  if (link !== undefined && /;\s*rel="?next\b/i.test(link)) return 'the header Link names a next page';
  return statesMore ?? undefined;
}
