import type { Handlers } from '../../../../generated/handlers.js';
import type { DataOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { searchCustomers } from './search.js';
import type { MatchRow } from './queries.js';

export function customerSearchHandlers({ db }: Deps) {
  return {
    async searchCustomers({ query, caller }) {
      const rows = await searchCustomers(db, caller, query);
      return {
        statusCode: 200,
        message: messageFor(rows.length),
        count: rows.length,
        data: rows.map(viewMatch),
      };
    },
  } satisfies Pick<Handlers, 'searchCustomers'>;
}

function messageFor(count: number): string {
  if (count === 0) return 'No customers found.';
  return count === 1 ? '1 customer found.' : `${count} customers found.`;
}

function viewMatch(row: MatchRow): DataOf<'searchCustomers'>[number] {
  return {
    courier_customer_id: row.id,
    user_code: row.user_code,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    courier_id: row.courier_id,
    courier_name: row.courier_name,
    match_score: row.match_score,
  };
}
