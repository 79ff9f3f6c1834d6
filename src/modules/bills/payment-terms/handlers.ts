import type { Handlers } from '../../../../generated/handlers.js';
import type { components } from '../../../../generated/contract.js';
import { outcomeOf, reply } from '../../../platform/contract/reply.js';
import { countOf } from '../../../platform/values/count-of.js';
import { DEFAULT_TERMS_DAYS } from '../shared/bill-row.js';
import type { TermsRow } from './queries.js';
import { changeTerms, readTerms } from './terms.js';

export function paymentTermsHandlers() {
  return {
    async getPaymentTerms({ ctx, query }) {
      const courierId = query.courier_id ?? null;
      const row = await readTerms(ctx, courierId);
      const data = viewTerms(row, courierId);
      const days = countOf(data.courier?.days ?? data.default_days, 'day');
      return reply(`Bills ${row.courierName ? `of ${row.courierName} ` : ''}are due after ${days}.`, data);
    },

    async updatePaymentTerms({ ctx, body }) {
      const { row, isChanged } = await changeTerms(ctx, body);
      const message = outcomeOf(
        isChanged,
        'Payment terms changed.',
        'The payment terms already have this value.',
      );
      return reply(message, viewTerms(row, body.courier_id));
    },
  } satisfies Partial<Handlers>;
}

function viewTerms(row: TermsRow, courierId: string | null): components['schemas']['PaymentTerms'] {
  const defaultDays = row.tenantDays ?? DEFAULT_TERMS_DAYS;
  return {
    default_days: defaultDays,
    courier:
      courierId === null
        ? null
        : { courier_id: courierId, days: row.ownDays ?? defaultDays, uses_default: row.ownDays === null },
  };
}
