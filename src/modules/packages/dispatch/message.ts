import type { BodyOf } from '../../../platform/contract/types.js';
import { countOf } from '../../../platform/values/count-of.js';
import { filtersOf, hasFilters } from '../list/filters.js';
import type { Dispatch } from './queue-dispatch.js';

export type PackageSelection = BodyOf<'queueDispatch'>;

/** Returns how many packages a dispatch selected, whether all of the caller's, and how many it sends. */
export function messageOfDispatch(
  { selected, queued }: Pick<Dispatch, 'selected' | 'queued'>,
  selection: PackageSelection,
): string {
  const sentences = [`A live sync was triggered for ${countOf(selected, 'package')}.`];
  const isFiltered = selection.package_ids !== undefined || hasFilters(filtersOf(selection));
  if (!isFiltered) sentences.push('The request has no filter, so it selected all of them.');
  if (queued < selected) {
    const why =
      'already queued, unchanged since they were sent, or of a courier without a URL that can receive them.';
    sentences.push(
      queued === 0 ? `None was queued: they are ${why}` : `${queued} were queued. The others are ${why}`,
    );
  }
  return sentences.join(' ');
}
