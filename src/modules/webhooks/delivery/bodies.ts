import type { SystemContext } from '../../../platform/context/request-context.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import { viewEvent } from '../events/event-view.js';
import { testRow, viewFlatPackage, voidedRow } from '../flat/flat-package.js';
import { selectFlatPackages, selectVoided, type FlatRow } from '../flat/flat-queries.js';
import type { ClaimedRow } from './claim-queries.js';
import type { Called } from './outcome.js';

/** A claimed delivery and the body of its request. */
export type Message = { delivery: ClaimedRow; body: MessageBody };

/** `userCode` is that of a flat package. Null if there is nothing to send. */
type MessageBody = { text: string; userCode: string | undefined } | null;

/**
 * Adds the body to each delivery, in the format of the URL. An event is sent as it was stored, a flat package
 * with its current state.
 */
export async function writeBodies(
  newContext: () => SystemContext,
  courierId: string,
  { format, token }: Pick<Called, 'format' | 'token'>,
  deliveries: ClaimedRow[],
): Promise<Message[]> {
  if (format === 'event')
    return deliveries.map((delivery) => ({
      delivery,
      body: { text: JSON.stringify(viewEvent(delivery)), userCode: undefined },
    }));
  const packages = await readPackages(newContext(), courierId, deliveries);
  return deliveries.map((delivery) => {
    const isTest = delivery.type === 'webhook.test';
    const row = isTest ? testRow(courierId, delivery.id, delivery.occurredAt) : packages.get(delivery.id);
    if (!row) return { delivery, body: null };
    const flat = viewFlatPackage(row, token ?? '');
    // Some receivers accept only an array.
    const content = format === 'flat_array' ? [flat] : flat;
    return { delivery, body: { text: JSON.stringify(content), userCode: flat.UserCode || undefined } };
  });
}

/**
 * Returns the current packages of the events, by the event's id. One whose receipt was voided is what it was then. As in events, the
 * number is masked while the package has no customer. Events of other types have no flat form: such a delivery was pending when
 * the format was changed.
 */
async function readPackages(
  ctx: SystemContext,
  courierId: string,
  deliveries: ClaimedRow[],
): Promise<Map<string, FlatRow>> {
  const eventIds = deliveries.filter(({ type }) => type.startsWith('package.')).map(({ id }) => id);
  const [rows] = await ctx.read([selectFlatPackages(ctx, courierId, eventIds)]);
  const packages = new Map(
    rows.map((row) => {
      const trackingNumber =
        row.userCode === null ? maskTrackingNumber(row.trackingNumber) : row.trackingNumber;
      return [row.eventId, { ...row, trackingNumber }];
    }),
  );
  const missing = eventIds.filter((id) => !packages.has(id));
  if (missing.length === 0) return packages;
  const [voided] = await ctx.read([selectVoided(ctx, courierId, missing)]);
  for (const { eventId, data } of voided) packages.set(eventId, voidedRow(courierId, eventId, data));
  return packages;
}
