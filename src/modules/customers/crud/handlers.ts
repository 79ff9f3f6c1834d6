import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { customerChanges } from '../shared/change-quota.js';
import { createCustomer, deleteCustomer, listBranches, listCustomers, updateCustomer } from './customer.js';
import { viewCustomer } from './view.js';
import { countOf } from '../../../platform/values/count-of.js';

export function customerHandlers({ customerChangesPerDay }: Deps) {
  const quota = customerChanges(customerChangesPerDay);
  return {
    async listCustomers({ ctx, query }) {
      if (query.action === 'branches') {
        const names = await listBranches(ctx, query.courier_id);
        return {
          statusCode: 200,
          message: `${countOf(names.length, 'branch', 'branches')} found.`,
          data: names,
        };
      }
      const { rows, total } = await listCustomers(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(total, 'customer')} found.`,
        data: rows.map(viewCustomer),
        total,
      };
    },

    async createCustomer({ ctx, body }) {
      const id = await createCustomer(ctx, quota, body);
      return { statusCode: 200, message: 'Customer created.', data: { id } };
    },

    async updateCustomer({ ctx, body }) {
      const { row, isChanged } = await updateCustomer(ctx, quota, body);
      const message = isChanged
        ? 'Customer updated.'
        : 'The customer already has these values. Nothing was changed.';
      return { statusCode: 200, message, data: viewCustomer(row) };
    },

    async deleteCustomer({ ctx, query, body }) {
      const ids = { inQuery: query.id, inBody: body.courier_customer_id };
      const id = await deleteCustomer(ctx, quota, ids);
      return { statusCode: 200, message: 'Customer deleted.', data: { courier_customer_id: id } };
    },
  } satisfies Pick<Handlers, 'listCustomers' | 'createCustomer' | 'updateCustomer' | 'deleteCustomer'>;
}
