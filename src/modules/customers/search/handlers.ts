import type { Handlers } from '../../../../generated/handlers.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { searchCustomers } from './search.js';
import type { MatchRow } from './queries.js';
import { countOf } from '../../../platform/values/count-of.js';

export function customerSearchHandlers() {
  return {
    async searchCustomers({ ctx, query }) {
      const rows = await searchCustomers(ctx, query);
      return {
        statusCode: 200,
        message: messageFor(rows.length),
        count: rows.length,
        data: rows.map(viewMatch),
      };
    },
  } satisfies Partial<Handlers>;
}

function messageFor(count: number): string {
  if (count === 0) return 'No customers found.';
  return `${countOf(count, 'customer')} found.`;
}

function viewMatch(row: MatchRow): DataOf<'searchCustomers'>[number] {
  return {
    courier_customer_id: row.id,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    email: row.email,
    courier_id: row.courierId,
    courier_name: row.courierName,
    match_score: row.matchScore,
  };
}
