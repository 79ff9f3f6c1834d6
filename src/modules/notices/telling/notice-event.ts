import { oneLine } from '../../../platform/mail/plain-text.js';
import { nameOf } from '../mails/letter.js';
import { TEXTS } from '../mails/texts.js';
import type { ToldCustomer } from './due-queries.js';

/** Returns the event from which the courier's own system makes a message. */
export const toEvent = (courierId: string, { eventId: id, ...customer }: ToldCustomer) => ({
  courierId,
  id,
  type: 'consignee.notice' as const,
  data: {
    user_code: customer.userCode,
    first_name: customer.firstName,
    last_name: customer.lastName,
    email: customer.email,
    language: customer.language,
    text: textOf(customer),
    total_parcels: customer.total,
    parcels: customer.parcels.map(({ packageId, trackingNumber, state }) => ({
      package_id: packageId,
      tracking_number: trackingNumber,
      status: state,
    })),
  },
});

function textOf({
  language,
  counts,
  parcels: [first],
  total,
  ...courier
}: Omit<ToldCustomer, 'eventId'>): string {
  const { states } = TEXTS[language];
  const titles = counts.map(({ state, total: count }) =>
    count === 1 ? states[state].one : states[state].several(count),
  );
  const number = total === 1 && first ? `: ${oneLine(first.trackingNumber)}` : '';
  return `${nameOf(courier)}: ${titles.join('. ')}${number}`;
}
