import type { UserCaller } from '../auth/callers.js';
import type { BodyOf } from '../contract/types.js';
import { readInScope, type Db } from '../db/transaction.js';
import { Fault, invalidField } from '../errors.js';
import { computePreview, findParties, type PartiesRow, type PreviewRow } from './queries.js';

export type Preview = { parties: PartiesRow; computed: PreviewRow };

/**
 * What a courier owes for the packages received in a period. Nothing is stored.
 *
 * @throws Fault validation_failed, courier_not_found, and record_forbidden for a courier that names anybody
 * else, existing or not, so that it learns of nobody
 */
export async function previewInvoice(
  db: Db,
  caller: UserCaller,
  request: BodyOf<'generateCourierInvoice'>,
): Promise<Preview> {
  const { start_date: startDate, end_date: endDate } = request;
  const courierId = request.courier_id.toLowerCase();
  if (startDate > endDate) throw invalidField('end_date', 'must not be before start_date', 'minimum');
  if (caller.courierId !== null && caller.courierId !== courierId) {
    throw new Fault('record_forbidden', 'You may preview only your own invoices.');
  }
  const [parties, computed] = await readInScope(db, caller, [
    findParties(db, caller, courierId),
    computePreview(db, caller, { courierId, startDate, endDate }),
  ]);
  if (!parties?.[0] || !computed?.[0]) throw new Fault('courier_not_found');
  // as: the shapes that the two statements select
  return { parties: parties[0] as PartiesRow, computed: computed[0] as PreviewRow };
}
