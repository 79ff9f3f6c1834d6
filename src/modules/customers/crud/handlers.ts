import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { customerChanges } from '../shared/change-quota.js';
import { createCustomer, deleteCustomer, listBranches, listCustomers, updateCustomer } from './customer.js';
import { viewCustomer } from './view.js';

export function customerHandlers({ db, customerChangesPerDay }: Deps) {
  const quota = customerChanges(customerChangesPerDay);
  return {
    async listCustomers({ query, caller }) {
      if (query.action === 'branches') {
        const names = await listBranches(db, caller, query.courier_id);
        return {
          statusCode: 200,
          message: names.length === 1 ? '1 branch found.' : `${names.length} branches found.`,
          data: names,
        };
      }
      const { rows, total } = await listCustomers(db, caller, query);
      return {
        statusCode: 200,
        message: total === 1 ? '1 customer found.' : `${total} customers found.`,
        data: rows.map(viewCustomer),
        total,
      };
    },

    async createCustomer({ body, caller, requestId }) {
      const id = await createCustomer({ db, caller, requestId, quota }, body);
      return { statusCode: 200, message: 'Customer created.', data: { id } };
    },

    async updateCustomer({ body, caller, requestId }) {
      const { row, isChanged } = await updateCustomer({ db, caller, requestId, quota }, body);
      const message = isChanged
        ? 'Customer updated.'
        : 'The customer already has these values. Nothing was changed.';
      return { statusCode: 200, message, data: viewCustomer(row) };
    },

    async deleteCustomer({ query, body, caller, requestId }) {
      const id = await deleteCustomer(
        { db, caller, requestId, quota },
        { inQuery: query.id, inBody: body.courier_customer_id },
      );
      return { statusCode: 200, message: 'Customer deleted.', data: { courier_customer_id: id } };
    },
  } satisfies Pick<Handlers, 'listCustomers' | 'createCustomer' | 'updateCustomer' | 'deleteCustomer'>;
}
