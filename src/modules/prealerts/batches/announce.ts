import type { SystemContext } from '../../../platform/context/request-context.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { newIds } from '../../../platform/values/ids.js';
import type { ScannedNumber } from '../../tracking-numbers/public.js';
import { ownerById } from '../duplicates/existing.js';
import type { NewPrealert } from './new-prealert.js';
import type { NumberedPrealert } from './batch-queries.js';
import { prepareBatch, readExisting, storeBatch, type Batch } from './store-batch.js';

/** Parcels that a service of the courier announces on its behalf. */
export type Announcements = (Pick<
  NewPrealert,
  'userCode' | 'sentNumber' | 'vendor' | 'description' | 'reference'
> & { number: ScannedNumber })[];

/** `known` is a number that is announced for the same customer. */
type Announced = 'created' | 'known' | 'other_customer' | 'unknown_user_code';

type Prepared = { batch: Batch; prealerts: NumberedPrealert[] };

/** Prepares announcements of a courier before the transaction that stores them. */
export async function prepareAnnouncements(
  ctx: SystemContext,
  courierId: string,
  announcements: Announcements,
): Promise<Prepared> {
  const ids = newIds(announcements.length);
  const prealerts = announcements.map(({ number, ...rest }, index) => ({
    ...rest,
    number: index,
    id: ids[index] ?? '',
    trackingNumber: number.text,
    trackingKey: number.key,
    keys: number.keys,
  }));
  return { prealerts, batch: await prepareBatch(ownerById(ctx, courierId), prealerts) };
}

/** Creates the pre-alerts as a batch of the courier's API key would. Returns what became of each, in their order. */
export async function storeAnnouncements(tx: SystemTx, { batch, prealerts }: Prepared): Promise<Announced[]> {
  if (prealerts.length === 0) return [];
  const stored = new Map((await storeBatch(tx, batch, 'feed')).map(({ number, id }) => [number, id]));
  const duplicates = prealerts.flatMap(({ number }) => (stored.get(number) === null ? number : []));
  const existing = await readExisting(tx, batch.owner, prealerts, duplicates);
  return prealerts.map(({ number }) => {
    const id = stored.get(number);
    if (id === undefined) return 'unknown_user_code';
    if (id !== null) return 'created';
    return existing.get(number)?.differs ? 'other_customer' : 'known';
  });
}
