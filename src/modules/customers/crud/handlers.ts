import type { components } from '../../../../generated/contract.js';
import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { warnOfLikeNumber } from '../../tracking-numbers/public.js';
import { describeLikeCode, type LikeCode } from '../shared/leading-zeros.js';
import { quotaOf } from '../../../platform/limits/stored/quotas.js';
import { createCustomer, deleteCustomer, listBranches, listCustomers, updateCustomer } from './customer.js';
import { countOf } from '../../../platform/values/count-of.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { CustomerRow } from './queries.js';

export function customerHandlers({ customerChangesPerDay }: Deps) {
  const quota = quotaOf('customer_changes', customerChangesPerDay);
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
      const { id, likeCodes } = await createCustomer(ctx, quota, body);
      return {
        statusCode: 200,
        message: 'Customer created.',
        data: { id, ...warningsOf(body.user_code, likeCodes) },
      };
    },

    async updateCustomer({ ctx, body }) {
      const { row, isChanged, likeCodes } = await updateCustomer(ctx, quota, body);
      const message = isChanged
        ? 'Customer updated.'
        : 'The customer already has these values. Nothing was changed.';
      const data = { ...viewCustomer(row), ...warningsOf(body.user_code, likeCodes) };
      return { statusCode: 200, message, data };
    },

    async deleteCustomer({ ctx, query, body }) {
      const ids = { inQuery: query.id, inBody: body.courier_customer_id };
      const id = await deleteCustomer(ctx, quota, ids);
      return { statusCode: 200, message: 'Customer deleted.', data: { courier_customer_id: id } };
    },
  } satisfies Partial<Handlers>;
}

type Warning = components['schemas']['CustomerWarning'];

/** @param userCode undefined if the request does not set it */
function warningsOf(userCode: string | undefined, likeCodes: LikeCode[]): { warnings?: Warning[] } {
  if (userCode === undefined) return {};
  const likeNumber = warnOfLikeNumber(userCode);
  const warnings: Warning[] = likeNumber ? [likeNumber] : [];
  for (const found of likeCodes) warnings.push({ code: 'leading_zeros', message: describeLikeCode(found) });
  return warnings.length > 0 ? { warnings } : {};
}

function viewCustomer(row: CustomerRow): components['schemas']['Customer'] {
  return {
    courier_customer_id: row.id,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    branch: row.branch,
    is_active: row.isActive ? 1 : 0,
    courier_id: row.courierId,
    courier_name: row.courierName,
    created_at: formatDateTime(row.createdAt),
    updated_at: formatDateTime(row.updatedAt),
  };
}
